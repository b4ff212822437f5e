package support

import (
	"math"

	"d3p/internal/models/graph"
)

// ordered serves vectors that increase: x_1 = u_1, x_k = x_{k-1} + exp(u_k),
// log |det dx/du| = u_2 + ... + u_n. Stan Reference Manual, "Ordered vector".
var ordered = Transform{
	Name:      "ordered",
	Target:    Support{Kind: Ordered},
	EventRank: 1,
	Free:      func(n int) int { return n },
	Forward: func(b *graph.Builder, u *graph.Node, event graph.Shape) *graph.Node {
		free := LastDim(u)
		steps := b.Where(first(b, free), u, b.Exp(u))
		return b.Rename(b.CumSum(b.Expand(steps, u.Shape()), free.Name), free.Name, event[0].Name)
	},
	LogDet: func(b *graph.Builder, u *graph.Node, _ graph.Shape) *graph.Node {
		free := LastDim(u)
		return b.Sum(b.Where(first(b, free), b.Const(0), u), free.Name)
	},
	Inverse: func(dst, x []float64) {
		dst[0] = x[0]
		for k := 1; k < len(x); k++ {
			dst[k] = math.Log(x[k] - x[k-1])
		}
	},
}

// first is 1 at the first index of d, else 0.
func first(b *graph.Builder, d graph.Dim) *graph.Node {
	return b.OneHot(b.Const(0), d)
}
