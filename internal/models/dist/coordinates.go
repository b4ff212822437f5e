package dist

import (
	"fmt"

	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Coordinates are the laws of the unconstrained numbers u behind a value:
// independent of each other, so that a draw inverts one distribution function
// per number. All nodes have the shape of u.
type Coordinates struct {
	LogDensity *graph.Node // of u, the transform's Jacobian included
	LogBelow   *graph.Node // log P(U <= u)
	LogAbove   *graph.Node // log P(U > u)
}

// CoordinatesOf takes apart a density of a value of this shape at the
// unconstrained numbers u. It refuses families whose numbers depend on each
// other, or have no distribution function.
func CoordinatesOf(b *graph.Builder, density Density, u *graph.Node, shape graph.Shape) (Coordinates, error) {
	a, ok := density.(Applied)
	switch {
	case !ok:
		return Coordinates{}, fmt.Errorf("a combination of distributions has no coordinates")
	case a.Distribution == &dirichlet:
		return sticksOf(b, a.Args[0], u, shape), nil
	case a.EventRank > 0 || a.LogCDF == nil || a.LogCCDF == nil:
		return Coordinates{}, fmt.Errorf("%s has no independent coordinates", a.Name)
	}
	t := support.TransformFor(a.Support())
	x, logDet := t.Apply(b, u, shape)
	return Coordinates{
		LogDensity: b.Add(b.Expand(a.LogDensity(b, Observed{X: x}), u.Shape()), logDet),
		LogBelow:   b.Expand(a.LogCDF(b, x, a.Args), u.Shape()),
		LogAbove:   b.Expand(a.LogCCDF(b, x, a.Args), u.Shape()),
	}, nil
}

// sticksOf are the fractions that stick breaking takes off a dirichlet's
// vector: independent betas, of the concentration of an element and that of
// all after it. Devroye 1986, Non-Uniform Random Variate Generation, XI.4.
func sticksOf(b *graph.Builder, concentration, u *graph.Node, shape graph.Shape) Coordinates {
	event, free := shape[len(shape)-1], support.LastDim(u)
	all := b.Expand(concentration, shape)
	first, after := make([]*graph.Node, free.Size), make([]*graph.Node, free.Size)
	rest := b.Slice(all, event.Name, event.Size-1)
	for k := free.Size - 1; k >= 0; k-- {
		first[k], after[k] = b.Slice(all, event.Name, k), rest
		rest = b.Add(rest, first[k])
	}
	p := support.EventLast(b, b.Stack(free, first...), 1)
	q := support.EventLast(b, b.Stack(free, after...), 1)
	logit, _ := support.Sticks(b, u)
	constant := b.Sub(b.Lgamma(b.Add(p, q)), b.Add(b.Lgamma(p), b.Lgamma(q)))
	return Coordinates{
		LogDensity: b.AddAll(constant, b.Mul(p, b.LogSigmoid(logit)), b.Mul(q, b.LogSigmoid(b.Neg(logit)))),
		LogBelow:   b.LogBetaI(logit, p, q),
		LogAbove:   b.LogBetaI(b.Neg(logit), q, p),
	}
}
