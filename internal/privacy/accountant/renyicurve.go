package accountant

import (
	"math"

	"d3p/internal/privacy/accountant/renyi"
	"d3p/internal/privacy/event"
)

// RenyiCurve is the Rényi divergence of the ledger at integer orders from 2 to
// 4096, the larger of its directions at each: an upper bound, exact where one
// direction decides. A ledger with infinite losses, as of (ε, δ) steps with δ > 0,
// has no finite divergence and no points. *UnsupportedError as in Renyi.
func RenyiCurve(ev event.Event, rel event.Relation) ([]RenyiBound, error) {
	comp, err := compile(ev, rel)
	if err != nil {
		return nil, err
	}
	var points []RenyiBound
	for _, order := range renyi.Orders() {
		p := RenyiBound{Order: float64(order)}
		for _, d := range comp.directions {
			if d.noDP != 0 {
				return nil, nil
			}
			rho, err := d.renyi(order)
			if err != nil {
				return nil, err
			}
			p.Epsilon = math.Max(p.Epsilon, rho)
		}
		points = append(points, p)
	}
	return points, nil
}
