package dist

import (
	"fmt"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Mixture is a mixture with its component summed out: one component for the whole value, or
// one for each index of the other dims of Weights.
//
//	log p(x) = log Σ_k w_k p_k(x)
//
// Component's arguments carry the dim Over, one index per component. McLachlan and Peel
// 2000, Finite Mixture Models.
type Mixture struct {
	Weights   *graph.Node // has dim Over, positive, sums to 1 along it
	Component Density
	Over      string
}

// LogDensity is the log-sum-exp over components; dims of x that Weights lacks
// belong to one draw and are summed first.
func (m Mixture) LogDensity(b *graph.Builder, x Observed) *graph.Node {
	component := m.Component.LogDensity(b, x)
	component = sumDims(b, component, m.drawn(component.Shape()))
	return b.LogSumExp(b.Add(family.LogOf(b, m.Weights), component), m.Over)
}

// drawn are the names of the dims that Weights lacks.
func (m Mixture) drawn(s graph.Shape) []string {
	var names []string
	for _, d := range s {
		if d.Name != m.Over && m.Weights.Shape().Index(d.Name) < 0 {
			names = append(names, d.Name)
		}
	}
	return names
}

// sumDims sums x over dims; without dims it returns x.
func sumDims(b *graph.Builder, x *graph.Node, dims []string) *graph.Node {
	if len(dims) == 0 {
		return x
	}
	return b.Sum(x, dims...)
}

// Mean is the weighted mean of the components' means.
func (m Mixture) Mean(b *graph.Builder) *graph.Node {
	mean := m.Component.Mean(b)
	if mean == nil {
		return nil
	}
	return b.Sum(b.Mul(m.Weights, mean), m.Over)
}

// Support is the support of a component.
func (m Mixture) Support() support.Support { return m.Component.Support() }

// over is the dim of the components; its size is 0 if Weights lacks it.
func (m Mixture) over() graph.Dim {
	s := m.Weights.Shape()
	if i := s.Index(m.Over); i >= 0 {
		return s[i]
	}
	return graph.Dim{Name: m.Over}
}

// Fits checks the weights' dims, and the component with the dim Over added.
func (m Mixture) Fits(shape graph.Shape) error {
	if m.over().Size == 0 {
		return fmt.Errorf("the weights %v of the mixture lack dim %s", m.Weights.Shape(), m.Over)
	}
	if shape.Index(m.Over) >= 0 {
		return fmt.Errorf("the value %v has dim %s, which the mixture sums over", shape, m.Over)
	}
	for _, d := range m.Weights.Shape() {
		if i := shape.Index(d.Name); d.Name != m.Over && (i < 0 || shape[i] != d) {
			return fmt.Errorf("the weights %v of the mixture have dim %s, which the value %v lacks", m.Weights.Shape(), d.Name, shape)
		}
	}
	return m.Component.Fits(append(graph.Shape{m.over()}, shape...))
}

// Inputs are the weights and the component's inputs.
func (m Mixture) Inputs() []*graph.Node {
	return append([]*graph.Node{m.Weights}, m.Component.Inputs()...)
}

// Sampler draws every component and keeps the one that its weights pick.
func (m Mixture) Sampler(shape graph.Shape) Sampler {
	over := m.over()
	component := m.Component.Sampler(append(graph.Shape{over}, shape...))
	var batch graph.Shape
	for _, d := range m.Weights.Shape() {
		if d.Name != m.Over {
			batch = append(batch, d)
		}
	}
	weightAt := positions(append(batch[:len(batch):len(batch)], over), m.Weights.Shape())
	batchOf := positions(shape, batch)
	draws := make([]float64, over.Size*shape.Size())
	weights := make([]float64, over.Size)
	picked := make([]int, batch.Size())
	return func(dst []float64, values [][]float64, rng Rand) {
		component(draws, values[1:], rng)
		for i := range picked {
			for k := range weights {
				weights[k] = values[0][weightAt[i*over.Size+k]]
			}
			picked[i] = family.DrawIndex(weights, rng)
		}
		for i := range dst {
			dst[i] = draws[picked[batchOf[i]]*len(dst)+i]
		}
	}
}
