package support

import (
	"fmt"
	"math"

	"d3p/internal/models/graph"
)

// LowerBound is the transform to numbers above a finite bound: x = lower + exp(u), log
// dx/du = u. For a bound of 0 it is exp.
func LowerBound(lower float64) *Transform {
	return &Transform{
		Name:   fmt.Sprintf("lower_bound(%g)", lower),
		Target: Support{Kind: Interval, Lower: lower, Upper: math.Inf(1)},
		Free:   one,
		Forward: func(b *graph.Builder, u *graph.Node, _ graph.Shape) *graph.Node {
			return b.Add(b.Exp(u), b.Const(lower))
		},
		LogDet:  func(_ *graph.Builder, u *graph.Node, _ graph.Shape) *graph.Node { return u },
		Inverse: func(dst, x []float64) { dst[0] = math.Log(x[0] - lower) },
	}
}

// UpperBound serves numbers below a finite bound: x = upper - exp(u),
// log |dx/du| = u.
func UpperBound(upper float64) *Transform {
	return &Transform{
		Name:   fmt.Sprintf("upper_bound(%g)", upper),
		Target: Support{Kind: Interval, Lower: math.Inf(-1), Upper: upper},
		Free:   one,
		Forward: func(b *graph.Builder, u *graph.Node, _ graph.Shape) *graph.Node {
			return b.Sub(b.Const(upper), b.Exp(u))
		},
		LogDet:  func(_ *graph.Builder, u *graph.Node, _ graph.Shape) *graph.Node { return u },
		Inverse: func(dst, x []float64) { dst[0] = math.Log(upper - x[0]) },
	}
}
