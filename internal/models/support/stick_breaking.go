package support

import (
	"math"

	"d3p/internal/models/graph"
)

// stickBreaking serves vectors of n positive numbers that add up to 1. With
//
//	z_k = sigmoid(u_k - log(n-k)),  x_k = z_k Π_{j<k} (1-z_j),  k = 1..n-1
//
// and x_n the rest, u = 0 gives equal parts. It is computed in logs, so that
// no part loses its gradient when it is small:
//
//	log x_k = w_k + Σ_{j<=k} log sigmoid(-w_j),  w_k = u_k - log(n-k)
//	dx_k/du_k = x_k (1-z_k)
//
// Stan Reference Manual, "Unit simplex".
var stickBreaking = Transform{
	Name:      "stick_breaking",
	Target:    Support{Kind: Simplex},
	EventRank: 1,
	Free:      func(n int) int { return n - 1 },
	Forward: func(b *graph.Builder, u *graph.Node, event graph.Shape) *graph.Node {
		w, rest := Sticks(b, u)
		free, n := LastDim(u), event[0].Size
		// Element k reads the cumulated rest of k, the last one that of n-1.
		cumulated := b.CumSum(rest, free.Name)
		rests := make([]*graph.Node, n)
		parts := make([]*graph.Node, n)
		for k := range n {
			rests[k] = b.Slice(cumulated, free.Name, min(k, n-2))
			parts[k] = b.Const(0)
			if k < n-1 {
				parts[k] = b.Slice(w, free.Name, k)
			}
		}
		log := b.Add(b.Stack(event[0], parts...), b.Stack(event[0], rests...))
		return b.Exp(EventLast(b, log, 1))
	},
	LogDet: func(b *graph.Builder, u *graph.Node, _ graph.Shape) *graph.Node {
		w, rest := Sticks(b, u)
		free := LastDim(u).Name
		return b.Sum(b.AddAll(w, b.CumSum(rest, free), rest), free)
	},
	Inverse: func(dst, x []float64) {
		n := len(x)
		rest := 1.0
		for k := range dst {
			rest -= x[k]
			// z/(1-z) is x_k over what is left after it.
			dst[k] = math.Log(x[k]) - math.Log(rest) + math.Log(float64(n-1-k))
		}
	},
}

// Sticks are w, the logits of the broken-off fractions, and log(1-z).
func Sticks(b *graph.Builder, u *graph.Node) (w, rest *graph.Node) {
	free := LastDim(u)
	offset := make([]float64, free.Size)
	for k := range offset {
		offset[k] = math.Log(float64(free.Size - k))
	}
	w = b.Sub(u, b.Consts(graph.Shape{free}, offset))
	return w, b.LogSigmoid(b.Neg(w))
}

// EventLast moves the first rank dims of x behind its other dims.
func EventLast(b *graph.Builder, x *graph.Node, rank int) *graph.Node {
	var names []string
	s := x.Shape()
	if len(s) < rank {
		return x // a bad node
	}
	for _, d := range append(s[rank:len(s):len(s)], s[:rank]...) {
		names = append(names, d.Name)
	}
	return b.Permute(x, names...)
}
