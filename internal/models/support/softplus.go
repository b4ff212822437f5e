package support

import (
	"math"

	"d3p/internal/models/graph"
)

// softplus serves positive numbers, linear where u is large: x = log(1+exp(u)),
// dx/du = 1/(1+exp(-u)).
var softplus = Transform{
	Name:    "softplus",
	Target:  Support{Kind: Positive},
	Free:    one,
	Forward: func(b *graph.Builder, u *graph.Node, _ graph.Shape) *graph.Node { return b.Softplus(u) },
	LogDet:  func(b *graph.Builder, u *graph.Node, _ graph.Shape) *graph.Node { return b.LogSigmoid(u) },
	Inverse: func(dst, x []float64) { dst[0] = x[0] + math.Log(-math.Expm1(-x[0])) },
}
