package accountant

import (
	"math"

	"d3p/internal/privacy/accountant/renyi"
	"d3p/internal/privacy/event"
)

// RenyiBound is the answer of the Rényi accountant: an upper bound on ε that
// is valid but loose.
type RenyiBound struct {
	Epsilon float64
	Order   float64 // α at which it is attained
}

// Renyi is an upper bound on ε(delta) by Rényi differential privacy at integer
// orders (Mironov, Talwar, Zhang 2019, arXiv:1908.10530) and the conversion of
// Canonne et al. 2020, arXiv:2004.00010, Proposition 12. It shares no code with
// the two engines but the table of pairs, so it is their cross-check:
// it can never be below the certified lower bound. *UnsupportedError for
// pairs without a closed-form divergence.
func Renyi(ev event.Event, rel event.Relation, delta float64) (RenyiBound, error) {
	if err := checkDelta(delta); err != nil {
		return RenyiBound{}, err
	}
	comp, err := compile(ev, rel)
	if err != nil {
		return RenyiBound{}, err
	}
	best := RenyiBound{Epsilon: math.Inf(1)}
	for _, order := range renyi.Orders() {
		worst := 0.0
		for _, d := range comp.directions[:1] { // the divergences of all are the same, see renyi
			left, err := d.finiteDelta(delta)
			if err != nil {
				return RenyiBound{}, err
			}
			rho, err := d.renyi(order)
			if err != nil {
				return RenyiBound{}, err
			}
			a := float64(order)
			worst = math.Max(worst, rho+math.Log1p(-1/a)-(math.Log(left)+math.Log(a))/(a-1))
		}
		if worst < best.Epsilon {
			best = RenyiBound{Epsilon: math.Max(0, worst), Order: float64(order)}
		}
		if worst > 2*best.Epsilon && order > 64 { // larger orders only get worse
			break
		}
	}
	return best, nil
}

// renyi is the Rényi divergence of the whole direction at an integer order.
func (d *direction) renyi(order int) (float64, error) {
	rho := d.Mu2 * float64(order) / 2
	for _, p := range d.Parts {
		one, ok := renyi.Divergence(p.Key, order)
		if !ok {
			return 0, &UnsupportedError{What: "Rényi accounting of " + p.Key.Kind.String(), Why: "the divergence has no closed form"}
		}
		rho += float64(p.Count) * one
	}
	return rho, nil
}
