package net

import "d3p/internal/models/graph"

// dense is y = x W + c with x (I), W (I, O) and c (O): W's row is the input, as
// in Keras and Flax; PyTorch's Linear stores its transpose. The gradient of one
// record is the outer product of x and the adjoint δ of y, so its squared norm
// is |δ|² (|x|² + 1), bias included. Goodfellow 2015, arXiv:1510.01799.
func dense(p *plan, l *Layer) step {
	out, ok := p.dim(l.Units)
	switch {
	case !ok:
		return nil
	case len(p.shape) != 1:
		return p.fail(l.Kind.At, "put `flatten: {}` before it", "layer dense needs a vector, not %v", p.shape)
	}
	in := p.shape[0]
	row := in
	if row.Name == out.Name {
		row.Name += "'"
	}
	weightSD, biasSD := p.startSD(l, in.Size, out.Size)
	w := p.weight(l, "weight", graph.Shape{row, out}, weightSD)
	p.net.Weights[w].torch = transposedWeight
	bias := p.bias(l, out, biasSD)
	low := p.adapter(l, "", in, out)
	p.layer.Flops = 2 * in.Size * out.Size
	p.shape = graph.Shape{out}
	return func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
		return c.plus(b, low.add(b, c, b.MatMul(x, c.weight(w)), x), bias)
	}
}
