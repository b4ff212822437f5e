package models

import (
	"slices"

	"d3p/internal/models/data"
	"d3p/internal/models/dist"
	"d3p/internal/models/graph"
	"d3p/internal/models/net"
	"d3p/internal/models/support"
)

// predictions is the forward-only graph from a record's other columns to the observed
// ones; local latents are drawn from their prior.
func (c *compiler) predictions(m *Model) *build {
	g := c.build()
	g.rows()
	g.predict(m.Observed)
	return g
}

// reconstruction is the forward-only graph of a whole record whose local latents
// are drawn from their guide: the outputs of Predict, and last the lower bound
// on log p(record) at the drawn latents.
func (c *compiler) reconstruction(m *Model) *build {
	g := c.build()
	g.guided = true
	g.rows()
	g.predict(slices.Clone(m.Observed)) // at the places that predictions gave them
	g.put(g.logLikelihood(nil))
	return g
}

// Forward is the graph that the tape Predict is compiled from, for who writes it in
// another form.
type Forward struct {
	Builder    *graph.Builder
	Outputs    []*graph.Node   // at the places that Observation names
	Operations []net.Operation // layers that other formats may have
}

// Forward builds the graph.
func (m *Model) Forward() (*Forward, error) {
	c := newCompiler(m.Spec, m.Core)
	c.coordinates = m.coordinates
	_, g := c.check(&Model{})
	if len(c.errs) > 0 {
		return nil, c.sorted()
	}
	return &Forward{g.b, g.outputs, g.operations}, nil
}

// ForwardNet is the graph of a network alone: of its input, which takes the place of the
// encoded columns, an output for each head. Nil without a network of that name that the
// model calls.
func (m *Model) ForwardNet(name string) (*Forward, *net.Net) {
	c := newCompiler(m.Spec, m.Core)
	c.check(&Model{})
	g := c.build()
	for _, n := range c.networks {
		if n.Name != name {
			continue
		}
		x := g.b.Reshape(g.b.Columns(0, graph.Dim{Name: name, Size: n.Input().Size()}), n.Input())
		for _, head := range n.Heads() {
			g.put(g.env.Nets[name].Call(g.b, x, nil, head))
		}
		if len(g.outputs) == 0 {
			g.put(g.env.Nets[name].Call(g.b, x, nil, ""))
		}
		return &Forward{g.b, g.outputs, g.operations}, n
	}
	return nil, nil
}

// predict makes the inputs of predictions of the observations outputs, and gives the
// predictions their places.
func (g *build) predict(observed []Observation) {
	for i := range observed {
		o := &observed[i]
		for _, d := range g.c.core.Observe {
			density := dist.Density(nil)
			if d.Name.V == o.Name {
				density = g.density(d)
			}
			if density == nil {
				continue
			}
			if mean := density.Mean(g.b); mean != nil {
				o.Mean = g.put(mean)
			}
			if levels := g.levels(o, density); levels != nil {
				o.Levels = g.put(levels)
			}
			for _, n := range density.Inputs() {
				o.Inputs = append(o.Inputs, g.put(n))
			}
			o.Density = density
		}
	}
}

// put adds an output and returns its index.
func (g *build) put(n *graph.Node) int {
	g.outputs = append(g.outputs, n)
	return len(g.outputs) - 1
}

// levels are the probabilities of a category's levels; nil for another response.
func (g *build) levels(o *Observation, density dist.Density) *graph.Node {
	if o.Support.Kind != support.Category || len(o.Columns) != 1 || o.Columns[0].Missing.Rule == data.MissingModel {
		return nil
	}
	n := len(o.Columns[0].LevelNames())
	each := make([]*graph.Node, n)
	for k := range each {
		each[k] = g.b.Exp(density.LogDensity(g.b, dist.Observed{X: g.b.Const(float64(k))}))
	}
	return g.b.Stack(graph.Dim{Name: "level", Size: n}, each...)
}
