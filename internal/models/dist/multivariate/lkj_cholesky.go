package multivariate

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// LKJCholesky is the lower Cholesky factor L of a d×d correlation matrix whose
// density is proportional to det^(concentration-1): 1 is uniform, more is
// closer to the identity.
//
//	p(L) = Π_{i=2..d} L_ii^(d-i+2η-2) / c,  η = concentration
//	log c = Σ_{k=1..d-1} [k/2 log π + logΓ(η+(d-1-k)/2) - logΓ(η+(d-1)/2)]
//
// as a density of the elements below the diagonal. Lewandowski, Kurowicka and
// Joe 2009, J. Multivariate Analysis 100.
var LKJCholesky = family.Distribution{
	Name:      "lkj_cholesky",
	Summary:   "Cholesky factor of a correlation matrix with density proportional to det^(concentration-1)",
	EventRank: 2,
	Args: []family.Arg{
		{Name: "concentration", Support: support.Positive, Optional: true, Default: 1},
	},
	Support: family.Always(support.CholeskyCorr),
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		row, column := lastTwo(x)
		eta, d := args[0], support.LastDim(x).Size
		var terms []*graph.Node
		for i := 1; i < d; i++ {
			power := b.Add(b.Mul(b.Const(2), eta), b.Const(float64(d-i-3)))
			terms = append(terms, b.Mul(power, b.Log(b.Slice(b.Slice(x, row, i), column, i))))
			// The constant, with k = i.
			half := func(n int) *graph.Node { return b.Add(eta, b.Const(0.5*float64(n))) }
			terms = append(terms,
				b.Const(-0.5*float64(i)*family.LogPi),
				b.Neg(b.Lgamma(half(d-1-i))),
				b.Lgamma(half(d-1)))
		}
		return b.AddAll(terms...)
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		d, eta := support.Side(len(dst)), args[0][0]
		clear(dst)
		dst[0] = 1
		for i := 1; i < d; i++ {
			// Canonical partial correlations are betas on (-1, 1).
			rest := 1.0
			for j := range i {
				a := eta + 0.5*float64(d-2-j)
				z := 2*family.DrawBeta(a, a, rng) - 1
				dst[i*d+j] = z * math.Sqrt(rest)
				rest *= 1 - z*z
			}
			dst[i*d+i] = math.Sqrt(rest)
		}
	},
}
