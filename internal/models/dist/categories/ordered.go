package categories

import (
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// OrderedProbit and orderedCloglog are the index of an ordered level, 0 to K-1: the
// number of cutpoints below a variable centred at eta, a standard normal or the
// logarithm of an exponential.
//
//	p(x) = F(c_{x+1} - eta) - F(c_x - eta),  c_0 = -∞, c_K = ∞
//
// with F = Φ or F(z) = 1 - exp(-exp z), of proportional hazards. McCullagh 1980,
// JRSS B 42(2).
var (
	OrderedProbit = family.Distribution{
		Name:       "ordered_probit",
		Summary:    "ordered level: the number of cutpoints below a normal variable centred at eta",
		Args:       cutpointArgs,
		Support:    family.Always(support.Category),
		LogDensity: ordered{normalBelow, normalAbove, normalBetween}.logDensity,
		Sample:     sampleOrdered(func(rng family.Rand) float64 { return rng.Normal() }),
	}
	OrderedCloglog = family.Distribution{
		Name:       "ordered_cloglog",
		Summary:    "ordered level: the number of cutpoints below eta plus the logarithm of an exponential",
		Args:       cutpointArgs,
		Support:    family.Always(support.Category),
		LogDensity: ordered{hazardBelow, hazardAbove, hazardBetween}.logDensity,
		Sample:     sampleOrdered(func(rng family.Rand) float64 { return math.Log(family.DrawExponential(rng)) }),
	}
)

var cutpointArgs = []family.Arg{
	{Name: "eta"},
	{Name: "cutpoints", Rank: 1, Support: support.Ordered},
}

// ordered has the logarithms of F(z), of 1 - F(z), and of F(high) - F(low).
type ordered struct {
	below, above func(b *graph.Builder, z *graph.Node) *graph.Node
	between      func(b *graph.Builder, low, high *graph.Node) *graph.Node
}

func (o ordered) logDensity(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
	eta, cuts := args[0], args[1]
	cut := support.LastDim(cuts)
	zero, last := b.Const(0), b.Const(float64(cut.Size-1))
	high := b.Sub(b.Gather(cuts, cut.Name, b.Min(x, last)), eta)
	low := b.Sub(b.Gather(cuts, cut.Name, b.Max(b.Sub(x, b.Const(1)), zero)), eta)
	first, top := b.Less(x, b.Const(0.5)), b.Less(b.Add(last, b.Const(0.5)), x)
	// At the ends both are the same cutpoint, and between has another one to look at.
	end := b.Max(first, top)
	between := o.between(b, low, b.Where(end, b.Add(low, b.Const(1)), high))
	return b.Where(first, o.below(b, high), b.Where(top, o.above(b, low), between))
}

func normalBelow(b *graph.Builder, z *graph.Node) *graph.Node { return b.LogNormalCDF(z) }
func normalAbove(b *graph.Builder, z *graph.Node) *graph.Node { return b.LogNormalCDF(b.Neg(z)) }

// normalBetween takes the difference in the tail where both are small.
func normalBetween(b *graph.Builder, low, high *graph.Node) *graph.Node {
	right := b.Less(b.Const(0), b.Add(low, high))
	small := b.Where(right, b.Neg(high), low)
	large := b.Where(right, b.Neg(low), high)
	return family.LogDiffExp(b, b.LogNormalCDF(large), b.LogNormalCDF(small))
}

func hazardBelow(b *graph.Builder, z *graph.Node) *graph.Node { return family.Log1mExp(b, b.Exp(z)) }
func hazardAbove(b *graph.Builder, z *graph.Node) *graph.Node { return b.Neg(b.Exp(z)) }

// hazardBetween is log(exp(-e^low) - exp(-e^high)).
func hazardBetween(b *graph.Builder, low, high *graph.Node) *graph.Node {
	hazard := b.Exp(low)
	return b.Sub(family.Log1mExp(b, b.Mul(hazard, b.Expm1(b.Sub(high, low)))), hazard)
}

// sampleOrdered counts the cutpoints below a variable centred at eta.
func sampleOrdered(draw func(family.Rand) float64) func(dst []float64, args [][]float64, rng family.Rand) {
	return func(dst []float64, args [][]float64, rng family.Rand) {
		latent := args[0][0] + draw(rng)
		dst[0] = 0
		for _, c := range args[1] {
			if c < latent {
				dst[0]++
			}
		}
	}
}
