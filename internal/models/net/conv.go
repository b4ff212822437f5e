package net

import (
	"slices"

	"d3p/internal/models/graph"
)

// convolution is y[f, p] = Σ_c,t W[f, c, t]·x[c, p·stride + t] + c[f] with one filter for
// each of f outputs, at all places p: one matrix product of the filters (F × C·T) and the
// patches of all places (C·T × places), as in Chellapilla et al. 2006. W is ordered as
// PyTorch's Conv2d. Places share W, so a record's gradient is Σ_p δ_p x_pᵀ: see graph.Term.
func convolution(axes int) func(p *plan, l *Layer) step {
	return func(p *plan, l *Layer) step {
		m, in, out, ok := p.filtered(l, axes)
		if !ok {
			return nil
		}
		w, ok := p.window(l, m.sizes(), l.Kernel, l.Stride)
		if !ok {
			return nil
		}
		p.sequence(m)
		channels, taps := in.Size, w.taps()
		weights, bias := p.filters(l, graph.Shape{out, in}, out, w)
		p.shape = append(graph.Shape{out}, p.positions(m, w.outs())...)
		shape := p.shape
		filters := graph.Shape{out, {Name: seen, Size: channels * taps}}
		patches := graph.Shape{{Name: seen, Size: channels * taps}, {Name: places, Size: w.places()}}
		index := w.patches(channels)
		return func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
			if taps > 1 { // otherwise no position reads another one
				x = c.within(b, x, m, 0)
			}
			y := b.MatMul(b.Reshape(c.weight(weights), filters), b.TakeOr(x, patches, index, 0))
			c.did(Operation{Kind: Convolution, In: x, Out: y, Channels: channels, Axes: w.axes(), Filters: c.weight(weights)})
			return b.Reshape(c.plus(b, y, bias), shape)
		}
	}
}

// filtered is the image that a layer of filters reads, and the dims of its
// channels and of its filters, under different names.
func (p *plan) filtered(l *Layer, axes int) (m image, in, out graph.Dim, ok bool) {
	if m, ok = p.image(l, axes); !ok {
		return m, in, out, false
	}
	if out, ok = p.dim(l.Filters); !ok {
		return m, in, out, false
	}
	in = m.channel
	if in.Name == out.Name {
		in.Name += "'"
	}
	return m, in, out, true
}

// filters adds the weights of a layer of filters, which have the dims of
// channels and filters in the order of ends and then the window's, and a bias
// for each of out. It counts their products.
func (p *plan) filters(l *Layer, ends graph.Shape, out graph.Dim, w window) (weights, bias int) {
	products, taps := ends.Size(), w.taps()
	weightSD, biasSD := p.startSD(l, products/out.Size*taps, out.Size*taps)
	weights = p.weight(l, "weight", slices.Concat(ends, p.kernelShape(w)), weightSD)
	p.layer.Flops = 2 * products * taps * w.places()
	return weights, p.bias(l, out, biasSD)
}

// Names of the dims of a matrix of patches; no name of the language can clash
// with them.
const (
	seen   = "(seen)"
	places = "(places)"
)

// patches are the places of each patch in an image: channel, tap, place.
func (w window) patches(channels int) []int32 {
	taps, places := w.taps(), w.places()
	index := make([]int32, 0, channels*taps*places)
	for c := range channels {
		for t := range taps {
			for place := range places {
				at := w.at(t, place)
				if at >= 0 {
					at += c * w.size()
				}
				index = append(index, int32(at))
			}
		}
	}
	return index
}

// transposed is the adjoint of a convolution, which makes images larger: every
// position of the input adds W[c, f, t]·x[c, p] at p·stride − low + t. With
// padding same it makes in·stride positions, with a number (in−1)·stride +
// kernel − 2·padding, as PyTorch's ConvTranspose2d, which orders W so too.
func transposed(axes int) func(p *plan, l *Layer) step {
	return func(p *plan, l *Layer) step {
		m, in, out, ok := p.filtered(l, axes)
		if !ok {
			return nil
		}
		w, ok := p.enlarging(l, m)
		if !ok || p.tooManySeen(l, out.Size, w) {
			return nil
		}
		p.sequence(m)
		taps := w.taps()
		weights, bias := p.filters(l, graph.Shape{in, out}, out, w)
		p.shape = append(graph.Shape{out}, p.positions(m, w.ins())...)
		shape := p.shape
		filters := graph.Shape{in, {Name: seen, Size: out.Size * taps}}
		image := graph.Shape{{Name: places, Size: w.places()}, in}
		flat := graph.Shape{out, {Name: places, Size: w.size()}}
		from, into := w.stamps(out.Size)
		inside := graph.Shape{{Name: seen, Size: len(from)}}
		return func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
			x = c.within(b, x, m, 0)
			seen := b.Transpose(b.Reshape(x, graph.Shape{in, {Name: places, Size: w.places()}}))
			y := b.MatMul(b.Expand(seen, image), b.Reshape(c.weight(weights), filters))
			y = b.Place(b.Take(b.Transpose(y), inside, from), flat, into)
			c.did(Operation{Kind: Transposed, In: x, Out: y, Channels: in.Size, Axes: w.axes(), Filters: c.weight(weights)})
			return b.Reshape(c.plus(b, y, bias), shape)
		}
	}
}

// enlarging is the window of the convolution whose adjoint is a transposed convolution. Its
// places are the positions of the image.
func (p *plan) enlarging(l *Layer, m image) (w window, ok bool) {
	for i, places := range m.sizes() {
		a := axis{taps: each(l.Kernel, i), stride: each(l.Stride, i), out: places}
		switch {
		case l.Padding.Mode.V == "same":
			a.in = places * a.stride
			a.low = max(0, a.taps-a.stride) / 2
		default:
			a.low = l.Padding.Margin.V
			a.in = (places-1)*a.stride + a.taps - 2*a.low
		}
		if a.in < 1 {
			p.fail(l.Kind.At, "less padding", "layer %s leaves no position", l.Kind.V)
			return nil, false
		}
		w = append(w, a)
	}
	return w, true
}

func (w window) ins() []int {
	var list []int
	for _, a := range w {
		list = append(list, a.in)
	}
	return list
}

// stamps lists which values of filter, tap, place fall on the image, and where.
func (w window) stamps(filters int) (from, into []int32) {
	taps, places := w.taps(), w.places()
	for f := range filters {
		for t := range taps {
			for place := range places {
				if at := w.at(t, place); at >= 0 {
					from = append(from, int32((f*taps+t)*places+place))
					into = append(into, int32(f*w.size()+at))
				}
			}
		}
	}
	return from, into
}

// bias adds a bias for each output, -1 for a layer without biases.
func (p *plan) bias(l *Layer, out graph.Dim, sd float64) int {
	if !l.Bias.Or(true) {
		return -1
	}
	return p.weight(l, "bias", graph.Shape{out}, sd)
}
