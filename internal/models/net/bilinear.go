package net

import "d3p/internal/models/graph"

// bilinear is y[o] = Σ_ij A[o, i, j]·u[i]·v[j] + c[o] of the first numbers u of its input
// and the others v, with PyTorch's order of A. It is a dense layer of the products u[i]·v[j],
// so the squared norm of a record's gradient is |δ|² (|u|²|v|² + 1).
func bilinear(p *plan, l *Layer) step {
	out, ok := p.dim(l.Units)
	switch {
	case !ok:
		return nil
	case len(p.shape) != 1:
		return p.fail(l.Kind.At, "put `flatten: {}` before it", "layer bilinear needs a vector, not %v", p.shape)
	}
	all := p.shape[0].Size
	first := l.First.Or(all / 2)
	if first < 1 || first >= all {
		return p.fail(l.Kind.At, "", "layer bilinear multiplies its first %d numbers by the others, and has %d", first, all)
	}
	name := p.layer.Name
	u, v := graph.Dim{Name: name + ".first", Size: first}, graph.Dim{Name: name + ".second", Size: all - first}
	products := graph.Dim{Name: seen, Size: u.Size * v.Size}
	weightSD, biasSD := p.startSD(l, products.Size, out.Size)
	w, bias := p.weight(l, "weight", graph.Shape{out, u, v}, weightSD), p.bias(l, out, biasSD)
	p.layer.Flops = 2 * products.Size * out.Size
	p.shape = graph.Shape{out}
	return func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
		x = vectorOf(b, x)
		pairs := b.Mul(b.SliceRange(x, values, 0, first, u.Name), b.SliceRange(x, values, first, all, v.Name))
		y := b.MatMul(b.Reshape(c.weight(w), graph.Shape{out, products}), b.Reshape(pairs, graph.Shape{products}))
		return c.plus(b, y, bias)
	}
}
