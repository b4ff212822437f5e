package support

import (
	"math"

	"d3p/internal/models/graph"
)

// choleskyCorr serves the lower Cholesky factors L of d×d correlation
// matrices: rows of length 1, positive diagonal. From the d(d-1)/2 canonical
// partial correlations z = tanh(u), taken row by row,
//
//	L_ij = z_ij Π_{k<j} √(1-z_ik²),  j < i,   L_ii = Π_{k<i} √(1-z_ik²)
//	log |det dL/du| = Σ_{j<i} (1 + (i-1-j)/2) log(1-z_ij²),  i, j from 0
//
// where L stands for its elements below the diagonal. Lewandowski, Kurowicka
// and Joe 2009, J. Multivariate Analysis 100; Stan Reference Manual, "Cholesky
// factors of correlation matrices".
var choleskyCorr = Transform{
	Name:      "cholesky_corr",
	Target:    Support{Kind: CholeskyCorr},
	EventRank: 2,
	Free:      func(d int) int { return d * (d - 1) / 2 },
	Forward: func(b *graph.Builder, u *graph.Node, event graph.Shape) *graph.Node {
		z := triangle(b, b.Tanh(u), event, true, func(i, j, p, q int) float64 {
			return indicator(i == p && j == q)
		})
		before := triangle(b, log1mSquaredTanh(b, u), event, true, func(i, j, p, q int) float64 {
			return 0.5 * indicator(i == p && q < j && j <= i)
		})
		return b.Mul(b.Add(z, unitMatrix(b, event)), b.Exp(b.Max(before, b.Const(leastLogLength))))
	},
	LogDet: func(b *graph.Builder, u *graph.Node, event graph.Shape) *graph.Node {
		free := LastDim(u)
		weights := make([]float64, 0, free.Size)
		eachLower(event[0].Size, true, func(i, j int) {
			weights = append(weights, 1+0.5*float64(i-1-j))
		})
		return b.Sum(b.Mul(log1mSquaredTanh(b, u), b.Consts(graph.Shape{free}, weights)), free.Name)
	},
	Inverse: func(dst, x []float64) {
		d, next := Side(len(x)), 0
		for i := range d {
			rest := 1.0
			for j := range i {
				dst[next] = math.Atanh(x[i*d+j] / math.Sqrt(rest))
				rest -= x[i*d+j] * x[i*d+j]
				next++
			}
		}
	},
}

// leastLogLength keeps the diagonal above 0, whose logarithm has no gradient: noise can
// move u beyond 372, from where log |det dL/du| pulls it back.
const leastLogLength = -300

// log1mSquaredTanh is log(1 - tanh²u) = 2 (log 2 - u - softplus(-2u)).
func log1mSquaredTanh(b *graph.Builder, u *graph.Node) *graph.Node {
	return b.Mul(b.Const(2), b.Sub(b.Sub(b.Const(math.Ln2), u), b.Softplus(b.Mul(b.Const(-2), u))))
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
