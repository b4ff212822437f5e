package dist

import (
	"fmt"
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Missing is a value that is missing with probability P, and follows Base otherwise:
//
//	p(x) = P if x is missing, (1-P) Base(x) if not
//
// Whether a value is missing does not depend on the value. Jälkö et al. 2021,
// "Privacy-preserving data sharing via probabilistic modeling", Patterns 2(7) (twinify's
// NAModel).
type Missing struct {
	P    *graph.Node // in (0, 1)
	Base Density
}

// LogDensity uses x.Missing; a value that never is missing has the second case.
func (m Missing) LogDensity(b *graph.Builder, x Observed) *graph.Node {
	present := b.Add(family.Log1mOf(b, m.P), m.Base.LogDensity(b, Observed{X: x.X}))
	if x.Missing == nil {
		return present
	}
	return b.Where(x.Missing, family.LogOf(b, m.P), present)
}

// Mean is the mean of a value that is not missing.
func (m Missing) Mean(b *graph.Builder) *graph.Node { return m.Base.Mean(b) }

// Support is the support of Base.
func (m Missing) Support() support.Support { return m.Base.Support() }

// Fits checks P like any argument, and Base.
func (m Missing) Fits(shape graph.Shape) error {
	for _, d := range m.P.Shape() {
		if i := shape.Index(d.Name); i < 0 || shape[i] != d {
			return fmt.Errorf("the probability %v of missing has dim %s, which the value %v lacks", m.P.Shape(), d.Name, shape)
		}
	}
	if rank := m.Base.Support().EventRank(); rank > 0 {
		return fmt.Errorf("missing needs numbers, not vectors")
	}
	return m.Base.Fits(shape)
}

// Inputs are P and the inputs of Base.
func (m Missing) Inputs() []*graph.Node {
	return append([]*graph.Node{m.P}, m.Base.Inputs()...)
}

// Sampler draws from Base, and puts NaN for a missing value.
func (m Missing) Sampler(shape graph.Shape) Sampler {
	base := m.Base.Sampler(shape)
	at := positions(shape, m.P.Shape())
	return func(dst []float64, values [][]float64, rng Rand) {
		base(dst, values[1:], rng)
		for i := range dst {
			if rng.Uniform() < values[0][at[i]] {
				dst[i] = math.NaN()
			}
		}
	}
}
