package support

import (
	"fmt"
	"math"

	"d3p/internal/models/graph"
)

// ScaledSigmoid serves numbers between two finite bounds:
//
//	x = lower + (upper-lower) s,  s = 1/(1+exp(-u)),  dx/du = (upper-lower) s (1-s)
func ScaledSigmoid(lower, upper float64) *Transform {
	width := upper - lower
	target := Support{Kind: Interval, Lower: lower, Upper: upper}
	if lower == 0 && upper == 1 {
		target = Support{Kind: UnitInterval}
	}
	return &Transform{
		Name:   fmt.Sprintf("scaled_sigmoid(%g, %g)", lower, upper),
		Target: target,
		Free:   one,
		Forward: func(b *graph.Builder, u *graph.Node, _ graph.Shape) *graph.Node {
			return b.Add(b.Mul(b.Sigmoid(u), b.Const(width)), b.Const(lower))
		},
		LogDet: func(b *graph.Builder, u *graph.Node, _ graph.Shape) *graph.Node {
			return b.AddAll(b.LogSigmoid(u), b.LogSigmoid(b.Neg(u)), b.Const(math.Log(width)))
		},
		Inverse: func(dst, x []float64) { dst[0] = math.Log(x[0]-lower) - math.Log(upper-x[0]) },
	}
}
