package continuous

import (
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// ZeroOneInflatedBeta is a share that may be 0 or 1: with probability zoi it is one of the
// two, 1 with probability coi, else it follows a beta distribution.
//
//	p(0) = zoi (1-coi),  p(1) = zoi coi,  p(x) = (1-zoi) beta(x), 0 < x < 1
//
// Ospina and Ferrari 2010, Statistical Papers 51(1).
var ZeroOneInflatedBeta = family.Distribution{
	Name:    "zero_one_inflated_beta",
	Summary: "from 0 to 1: an end with probability zoi, which is 1 with probability coi, else beta",
	Args: append([]family.Arg{
		{Name: "zoi", Support: support.UnitInterval},
		{Name: "coi", Support: support.UnitInterval},
	}, Beta.Args...),
	Support: family.Always(support.ClosedUnit),
	Check:   func(args []*graph.Node) error { return Beta.Check(args[2:]) },
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		zoi, coi := args[0], args[1]
		atZero, atOne := b.Equal(x, b.Const(0)), b.Equal(x, b.Const(1))
		end := b.Add(atZero, atOne)
		// For an unused value the density of beta is that at 1/2, so that it is finite.
		inside := Beta.LogDensity(b, b.Where(end, b.Const(0.5), x), args[2:])
		ofEnd := b.Where(atOne, family.LogOf(b, coi), family.Log1mOf(b, coi))
		return b.Where(end, b.Add(family.LogOf(b, zoi), ofEnd), b.Add(family.Log1mOf(b, zoi), inside))
	},
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node {
		within := b.Mul(b.Sub(b.Const(1), args[0]), Beta.Mean(b, args[2:]))
		return b.Add(b.Mul(args[0], args[1]), within)
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		switch {
		case rng.Uniform() >= args[0][0]:
			Beta.Sample(dst, args[2:], rng)
		case rng.Uniform() < args[1][0]:
			dst[0] = 1
		default:
			dst[0] = 0
		}
	},
}
