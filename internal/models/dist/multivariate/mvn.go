// Package multivariate holds the distributions of vectors and matrices.
package multivariate

import (
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// MVN is the multivariate Gaussian with mean loc and covariance L Lᵀ, L the
// lower Cholesky factor.
//
//	log p(x) = -|z|²/2 - Σ_i log L_ii - (d/2) log 2π,  L z = x - loc
//
// z is found by forward substitution, one row after the other. Kotz,
// Balakrishnan and Johnson 2000, vol. 1, ch. 45.
var MVN = family.Distribution{
	Name:      "mvn",
	Summary:   "multivariate Gaussian with mean loc and covariance L L', L = cholesky",
	EventRank: 1,
	Args: []family.Arg{
		{Name: "loc", Rank: 1, Scalar: true},
		{Name: "cholesky", Rank: 2, Support: support.CholeskyCov},
	},
	Support: family.Always(support.Real),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		element := support.LastDim(x)
		residual := b.Sub(x, args[0])
		row, column := lastTwo(args[1])
		z := make([]*graph.Node, element.Size)
		var terms []*graph.Node
		for i := range z {
			rowI := b.Slice(args[1], row, i)
			r := b.Slice(residual, element.Name, i)
			for j := range i {
				r = b.Sub(r, b.Mul(b.Slice(rowI, column, j), z[j]))
			}
			diagonal := b.Slice(rowI, column, i)
			z[i] = b.Div(r, diagonal)
			terms = append(terms, b.Mul(b.Const(-0.5), b.Square(z[i])), b.Neg(b.Log(diagonal)))
		}
		return b.Add(b.AddAll(terms...), b.Const(-family.HalfLog2Pi*float64(element.Size)))
	},
	Mean: func(_ *graph.Builder, args []*graph.Node) *graph.Node { return args[0] },
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		d := len(dst)
		z := make([]float64, d)
		for i := range z {
			z[i] = rng.Normal()
		}
		for i := range dst {
			dst[i] = args[0][min(i, len(args[0])-1)]
			for j := range i + 1 {
				dst[i] += args[1][i*d+j] * z[j]
			}
		}
	},
}

// lastTwo are the names of the last two dims.
func lastTwo(x *graph.Node) (row, column string) {
	s := x.Shape()
	if len(s) < 2 { // of a bad node, which everything below passes on
		return "", ""
	}
	return s[len(s)-2].Name, s[len(s)-1].Name
}
