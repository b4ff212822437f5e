package net

import (
	"slices"

	"d3p/internal/models/graph"
)

// embedding replaces every level, a whole number from 0, by a row of a table of
// weights, levels × units; the output has the units first, then the dims of the
// input, as the channels of an image. A number that is no level makes the
// record count as zero. The gradient of a record is in the rows that it has:
// see graph.Term. Unless an initialiser is stated, weights start at N(0, 1), as
// in PyTorch.
func embedding(p *plan, l *Layer) step {
	levels, ok := p.dimOf(l.Levels, p.layer.Name+".level")
	if !ok {
		return nil
	}
	units, ok := p.dim(l.Units)
	if !ok {
		return nil
	}
	if units.Name == levels.Name || p.shape.Index(units.Name) >= 0 {
		return p.fail(l.Units.At, "write a number", "layer embedding has dim %s twice", units.Name)
	}
	sd := 1.0
	if l.Init.Kind.IsSet() || p.init.Kind.IsSet() {
		sd, _ = p.startSD(l, 1, units.Size)
	}
	table := p.weight(l, "weight", graph.Shape{levels, units}, sd)
	shape := p.shape
	p.shape = slices.Concat(graph.Shape{units}, shape)
	out, picked := p.shape, graph.Shape{{Name: places, Size: shape.Size()}}
	return func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
		if len(shape) == 0 {
			return b.Gather(c.weight(table), levels.Name, x)
		}
		return b.Reshape(b.Transpose(b.Gather(c.weight(table), levels.Name, b.Reshape(x, picked))), out)
	}
}
