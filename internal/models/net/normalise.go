package net

import (
	"slices"

	"d3p/internal/models/graph"
)

// Normalisation of one record's values by their own mean and variance,
//
//	y = (x − mean x) / √(var x + ε) · w + c,
//
// over all of them (layer_norm; Ba et al. 2016, arXiv:1607.06450), over groups
// of channels (group_norm; Wu and He 2018, arXiv:1803.08494) or over each
// channel (instance_norm). Variances are of the record, divided by the number of
// values, so that no other record matters. As in PyTorch, ε is 1e-5 and w starts
// at 1. A record's gradient with respect to w is the sum of δ·x̂ over the places
// that share an element of w: as many values as w has.

// startingEpsilon is PyTorch's.
const startingEpsilon = 1e-5

// layerNorm normalises over the last dims of a value, all unless stated, and
// scales each of their values.
func layerNorm(p *plan, l *Layer) step {
	n := l.Trailing.Or(len(p.shape))
	if n > len(p.shape) || len(p.shape) == 0 {
		return p.fail(l.Kind.At, "", "layer layer_norm normalises over %d dims of %v", n, p.shape)
	}
	return p.normalised(l, p.shape[len(p.shape)-n:], true, p.shape[:len(p.shape)-n])
}

// groupNorm normalises over groups of neighbouring channels.
func groupNorm(p *plan, l *Layer) step {
	if len(p.shape) == 0 {
		return p.fail(l.Kind.At, "", "layer group_norm needs channels, not a number")
	}
	if p.shape[0].Size%l.Groups.V != 0 {
		return p.fail(l.Groups.At, "a divisor of the number of channels", "layer group_norm has %d groups of %d channels", l.Groups.V, p.shape[0].Size)
	}
	return p.normalised(l, p.shape[:1], true, graph.Shape{{Name: "(group)", Size: l.Groups.V}})
}

// instanceNorm normalises each channel alone; it has weights only on request.
func instanceNorm(p *plan, l *Layer) step {
	if len(p.shape) < 2 {
		return p.fail(l.Kind.At, "", "layer instance_norm needs [channel, positions], not %v", p.shape)
	}
	return p.normalised(l, p.shape[:1], false, p.shape[:1])
}

// rmsNorm is y = x / √(mean x² + ε) · w over the channels at each position, with a
// weight for each channel. Zhang and Sennrich 2019, arXiv:1910.07467.
func rmsNorm(p *plan, l *Layer) step {
	if len(p.shape) == 0 {
		return p.fail(l.Kind.At, "", "layer rms_norm needs channels, not a number")
	}
	shape, channel, scale := p.shape, p.shape[0], -1
	if l.Affine.Or(true) {
		scale = p.weight(l, "weight", graph.Shape{channel}, 0)
		p.net.Weights[scale].Mean = 1
	}
	epsilon := l.Epsilon.Or(startingEpsilon)
	return func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
		x = b.Reshape(x, shape)
		x = b.Mul(x, b.Reciprocal(b.Sqrt(b.Add(b.Mean(b.Square(x), channel.Name), b.Const(epsilon)))))
		if scale >= 0 {
			x = b.Mul(x, c.weight(scale))
		}
		return b.Expand(x, shape)
	}
}

// normalised normalises each block of a value, and scales by weights of the given shape.
func (p *plan) normalised(l *Layer, weights graph.Shape, scaled bool, blocks graph.Shape) step {
	scale, shift := -1, -1
	if l.Affine.Or(scaled) {
		scale = p.weight(l, "weight", weights, 0)
		p.net.Weights[scale].Mean = 1
		shift = p.weight(l, "bias", weights, 0)
	}
	epsilon := l.Epsilon.Or(startingEpsilon)
	shape := p.shape
	const rest = "(normalised)"
	cut := append(slices.Clone(blocks), graph.Dim{Name: rest, Size: shape.Size() / blocks.Size()})
	return func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
		x = b.Reshape(x, cut)
		x = b.Sub(x, b.Mean(x, rest))
		sd := b.Sqrt(b.Add(b.Mean(b.Square(x), rest), b.Const(epsilon)))
		x = b.Reshape(b.Mul(x, b.Reciprocal(sd)), shape)
		if scale < 0 {
			return x
		}
		return b.Expand(b.Add(b.Mul(x, c.weight(scale)), c.weight(shift)), shape)
	}
}
