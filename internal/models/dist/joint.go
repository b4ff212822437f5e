package dist

import (
	"fmt"

	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Joint is a vector of independent elements, each with its own density: the columns of a
// table of mixed types, given the component that a Mixture sums over.
//
//	p(x) = Π_i p_i(x_i)
type Joint struct {
	Over  string // the dim of the vector
	Parts []Density
}

// element is element i of a value along the joint dim.
func (j Joint) element(b *graph.Builder, x Observed, i int) Observed {
	e := Observed{X: b.Slice(x.X, j.Over, i)}
	if x.Missing != nil {
		e.Missing = b.Slice(x.Missing, j.Over, i)
	}
	return e
}

// LogDensity adds up the elements; the joint dim is an event dim.
func (j Joint) LogDensity(b *graph.Builder, x Observed) *graph.Node {
	terms := make([]*graph.Node, len(j.Parts))
	for i, p := range j.Parts {
		terms[i] = p.LogDensity(b, j.element(b, x, i))
	}
	return b.AddAll(terms...)
}

// Mean is the vector of means, nil if an element has none.
func (j Joint) Mean(b *graph.Builder) *graph.Node {
	means := make([]*graph.Node, len(j.Parts))
	for i, p := range j.Parts {
		if means[i] = p.Mean(b); means[i] == nil {
			return nil
		}
	}
	return b.Stack(graph.Dim{Name: j.Over, Size: len(means)}, means...)
}

// Support is Mixed; ElementSupports has the support of each element.
func (j Joint) Support() support.Support { return support.Mixed.Whole() }

// Fits checks that the value is a vector with an element for each part, and the
// parts with the dims before it.
func (j Joint) Fits(shape graph.Shape) error {
	last := len(shape) - 1
	if last < 0 || shape[last] != (graph.Dim{Name: j.Over, Size: len(j.Parts)}) {
		return fmt.Errorf("joint describes a vector along dim %s of %d elements, not %v", j.Over, len(j.Parts), shape)
	}
	for i, p := range j.Parts {
		if p.Support().EventRank() > 0 {
			return fmt.Errorf("element %d of joint is a vector, not a number", i+1)
		}
		if err := p.Fits(shape[:last]); err != nil {
			return err
		}
	}
	return nil
}

// Inputs are the inputs of the parts, one after the other.
func (j Joint) Inputs() []*graph.Node {
	var in []*graph.Node
	for _, p := range j.Parts {
		in = append(in, p.Inputs()...)
	}
	return in
}

// Sampler draws the elements independently.
func (j Joint) Sampler(shape graph.Shape) Sampler {
	batch := shape[:len(shape)-1]
	samplers := make([]Sampler, len(j.Parts))
	for i, p := range j.Parts {
		samplers[i] = p.Sampler(batch)
	}
	column := make([]float64, batch.Size())
	return func(dst []float64, values [][]float64, rng Rand) {
		for i, draw := range samplers {
			own := len(j.Parts[i].Inputs())
			draw(column, values[:own], rng)
			values = values[own:]
			for k, v := range column {
				dst[k*len(samplers)+i] = v
			}
		}
	}
}
