package net

import (
	"slices"

	"d3p/internal/models/graph"
)

// residual is y = s(x) + f(x) with the layers of f and, if stated, those of the
// shortcut s, else s(x) = x. Both have as many values; the dims are the
// shortcut's. He et al. 2016, arXiv:1512.03385.
func residual(p *plan, l *Layer) step {
	path, shape := p.layer.Name, p.shape
	f, ok := p.layers(path, l.Layers)
	if !ok {
		return nil
	}
	out := p.shape
	p.shape = shape
	s, ok := p.layers(path+".shortcut", l.Shortcut)
	if !ok {
		return nil
	}
	shape = p.shape
	if !slices.Equal(sizesOf(out), sizesOf(shape)) {
		return p.fail(l.Kind.At, "add layers under `shortcut:`, such as a conv2d with kernel 1", "layer residual adds %v to %v", out, shape)
	}
	return func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
		y, short := x, x
		for _, step := range f {
			y = step(b, y, c)
		}
		for _, step := range s {
			short = step(b, short, c)
		}
		return b.Add(short, b.Reshape(y, shape))
	}
}

func sizesOf(s graph.Shape) []int {
	var list []int
	for _, d := range s {
		list = append(list, d.Size)
	}
	return list
}
