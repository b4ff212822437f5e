package models

import (
	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// tensorDims makes the dims of tensors dims of the model.
func (c *compiler) tensorDims() {
	for _, t := range c.spec.Data.Tensors {
		for i, d := range t.Dims {
			if i >= len(t.Shape) {
				return // reported by spec
			}
			size := t.Shape[i].V
			if other, ok := c.dims[d.V]; ok && other.Size != size {
				c.errs.Add(d.At, "", "dim %s has size %d here and %d elsewhere", d.V, size, other.Size)
				continue
			}
			if _, ok := c.dims[d.V]; !ok {
				c.dims[d.V] = expr.Dim{Size: size, Labels: expr.NumberedLabels(size)}
			}
		}
		if t.Sequence() {
			size := t.TokenLevels()
			c.dims[t.Name.V+data.LevelsSuffix] = expr.Dim{Size: size, Labels: expr.NumberedLabels(size)}
		}
	}
}

// tensor is the value of an array of columns. A stochastically binarised one is 1 where a
// standard normal is below the column, which has the quantile Φ⁻¹(x): so with probability
// x. The normal is new for every record and step.
func (g *build) tensor(t *data.Tensor, role encoding.Role) *graph.Node {
	shape := make(graph.Shape, len(t.Dims))
	for i, d := range t.Dims {
		shape[i] = graph.Dim{Name: d.V, Size: t.Shape[i].V}
	}
	at := g.c.encoder.Tensor(t, role)
	x := g.b.Reshape(g.b.Columns(g.block+at, graph.Dim{Name: t.Name.V, Size: t.Size()}), shape)
	switch t.Binarize.V {
	case data.Stochastic:
		noise := g.recordNoise(t.Name.V, shape)
		return g.b.Less(noise, x)
	case data.Threshold:
		return g.b.Sub(g.b.Const(1), g.b.Less(x, g.b.Const(0.5)))
	}
	return x
}

// tensors gives the tensors that the expressions of a row read their values.
func (g *build) tensors() {
	for _, t := range g.c.spec.Data.Tensors {
		length := t.Name.V + data.LengthSuffix
		counts := t.Sequence() && (g.c.usage.named[length] || g.c.usage.raw[length])
		if !(g.c.usage.named[t.Name.V] || counts) || len(t.Columns) == 0 {
			continue
		}
		x := g.tensor(t, encoding.Predictor)
		g.env.Values[t.Name.V] = expr.Value{Node: x}
		if counts {
			n := g.b.Sum(g.b.Less(g.b.Const(data.Padding), x))
			g.env.Values[length] = expr.Value{Node: n, Raw: n}
		}
	}
}

// observedTensor is an observation of a tensor, nil when the distribution makes
// no sense of it.
func (g *build) observedTensor(d *core.Definition, t *data.Tensor, o *Observation) *graph.Node {
	o.Columns = t.Columns
	o.Raw = make([]bool, len(o.Columns))
	switch {
	case o.Support.Kind == support.Binary && !t.Binarize.IsSet():
		g.c.errs.Add(d.Text.At, "add `binarize: {column: "+t.Name.V+", mode: stochastic}` to the data block", "%s observes zeros and ones, but tensor %s is not binarised", d.Text.V, t.Name.V)
		return nil
	case o.Support.Kind != support.Binary && o.Support.Kind != support.Real:
		g.c.errs.Add(d.Text.At, "use normal, laplace, student_t or bernoulli", "a tensor is not observed by %s", d.Text.V)
		return nil
	}
	if v, ok := g.env.Values[t.Name.V]; ok {
		o.Shape = v.Node.Shape()
		return v.Node
	}
	x := g.tensor(t, encoding.Response)
	o.Shape = x.Shape()
	return x
}
