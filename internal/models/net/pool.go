package net

import (
	"math"

	"d3p/internal/models/graph"
)

// pooling takes the largest value or the mean of every window of each channel. The stride
// is the kernel unless stated. The mean counts padding as zeros, as PyTorch's does; the
// maximum leaves it out, and is 0 if a length leaves no value. At a tie the largest values
// share the gradient of the maximum.
func pooling(axes int, largest bool) func(p *plan, l *Layer) step {
	return func(p *plan, l *Layer) step {
		m, ok := p.image(l, axes)
		if !ok {
			return nil
		}
		stride := l.Stride
		if len(stride) == 0 {
			stride = l.Kernel
		}
		w, ok := p.window(l, m.sizes(), l.Kernel, stride)
		if !ok {
			return nil
		}
		p.sequence(m)
		space := p.positions(m, w.outs())
		shape := append(graph.Shape{m.channel}, space...)
		if len(p.shape) == axes {
			shape = space // it has no channels
		}
		p.shape = shape
		windows := graph.Shape{m.channel, {Name: seen, Size: w.taps()}, {Name: places, Size: w.places()}}
		index := w.patches(m.channel.Size)
		return func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
			if !largest {
				x = c.within(b, x, m, 0)
				y := b.Mean(b.TakeOr(x, windows, index, 0), seen)
				c.did(Operation{Kind: MeanPool, In: x, Out: y, Channels: m.channel.Size, Axes: w.axes()})
				return b.Reshape(y, shape)
			}
			x = c.within(b, x, m, far)
			y := b.MaxOver(b.TakeOr(x, windows, index, math.Inf(-1)), seen)
			c.did(Operation{Kind: LargestPool, In: x, Out: y, Channels: m.channel.Size, Axes: w.axes()})
			if c.Length != nil && axes == 1 {
				y = b.Mul(y, b.Less(b.Consts(graph.Shape{windows[2]}, w.firsts()), c.Length))
			}
			return b.Reshape(y, shape)
		}
	}
}

// firsts are the first positions that the places of a window along one axis see.
func (w window) firsts() []float64 {
	list := make([]float64, w.places())
	for p := range list {
		list[p] = float64(max(0, p*w[0].stride-w[0].low))
	}
	return list
}

// globalMean is the mean of each channel over all its positions, or over those within a
// stated length, at least one.
func globalMean(p *plan, l *Layer) step {
	if len(p.shape) < 2 {
		return p.fail(l.Kind.At, "", "layer %s needs [channel, positions], not %v", l.Kind.V, p.shape)
	}
	channel, n := p.shape[0], p.shape[1:].Size()
	sequence := len(p.shape) == 2
	if sequence {
		p.spans(p.shape[1])
	}
	p.shape = graph.Shape{channel}
	return func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
		x = b.Reshape(x, graph.Shape{channel, {Name: places, Size: n}})
		if c.Length == nil || !sequence {
			return b.Mean(x, places)
		}
		counted := c.counted(b, graph.Dim{Name: places, Size: n})
		return b.Mul(b.Sum(b.Mul(x, counted), places), b.Reciprocal(b.Max(b.Sum(counted), b.Const(1))))
	}
}
