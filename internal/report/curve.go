package report

import (
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// curveDeltas are where the privacy curve is computed: from what a custodian may
// ask for to what bounds an attacker's advantage best.
var curveDeltas = [...]float64{1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 3e-2, 1e-1}

// Curve returns certified points (epsilon, delta) of the privacy curve of an
// event. A delta for which there is no certified answer has no point: it is
// never needed for the claim.
func Curve(ev event.Event, rel event.Relation) []Point {
	var points []Point
	for _, delta := range curveDeltas {
		answer, err := accountant.Epsilon(ev, rel, delta)
		if err == nil && answer.Certified {
			points = append(points, Point{answer.Upper, delta})
		}
	}
	return points
}
