package support

import "d3p/internal/models/graph"

// identity serves real numbers: x = u.
var identity = Transform{
	Name:    "identity",
	Target:  Support{Kind: Real},
	Free:    one,
	Forward: func(_ *graph.Builder, u *graph.Node, _ graph.Shape) *graph.Node { return u },
	LogDet: func(b *graph.Builder, u *graph.Node, _ graph.Shape) *graph.Node {
		return b.Expand(b.Const(0), u.Shape())
	},
	Inverse: func(dst, x []float64) { dst[0] = x[0] },
}
