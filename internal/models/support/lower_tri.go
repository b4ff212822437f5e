package support

import (
	"math"

	"d3p/internal/models/graph"
)

// lowerTriangle serves d×d lower triangles with a positive diagonal, the
// Cholesky factors of covariance matrices: u fills the triangle row by row,
// the diagonal through exp. log |det dx/du| = Σ_i u_ii.
//
// Pinheiro and Bates 1996, Statistics and Computing 6, "log-Cholesky".
var lowerTriangle = Transform{
	Name:      "lower_tri",
	Target:    Support{Kind: CholeskyCov},
	EventRank: 2,
	Free:      func(d int) int { return d * (d + 1) / 2 },
	Forward: func(b *graph.Builder, u *graph.Node, event graph.Shape) *graph.Node {
		values := b.Where(onDiagonal(b, LastDim(u), event), b.Exp(u), u)
		return triangle(b, b.Expand(values, u.Shape()), event, false, func(i, j, p, q int) float64 {
			return indicator(i == p && j == q)
		})
	},
	LogDet: func(b *graph.Builder, u *graph.Node, event graph.Shape) *graph.Node {
		free := LastDim(u)
		return b.Sum(b.Mul(u, onDiagonal(b, free, event)), free.Name)
	},
	Inverse: func(dst, x []float64) {
		d, next := Side(len(x)), 0
		eachLower(d, false, func(i, j int) {
			dst[next] = x[i*d+j]
			if i == j {
				dst[next] = math.Log(x[i*d+j])
			}
			next++
		})
	},
}

// onDiagonal is 1 where an element of the triangle is on the diagonal, else 0.
func onDiagonal(b *graph.Builder, free graph.Dim, event graph.Shape) *graph.Node {
	v := make([]float64, 0, free.Size)
	eachLower(event[0].Size, false, func(i, j int) { v = append(v, indicator(i == j)) })
	return b.Consts(graph.Shape{free}, v)
}
