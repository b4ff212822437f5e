package support

import (
	"math"

	"d3p/internal/models/graph"
)

// exponentiate serves positive numbers: x = exp(u), log dx/du = u.
var exponentiate = Transform{
	Name:    "exp",
	Target:  Support{Kind: Positive},
	Free:    one,
	Forward: func(b *graph.Builder, u *graph.Node, _ graph.Shape) *graph.Node { return b.Exp(u) },
	LogDet:  func(_ *graph.Builder, u *graph.Node, _ graph.Shape) *graph.Node { return u },
	Inverse: func(dst, x []float64) { dst[0] = math.Log(x[0]) },
}
