package net

import (
	"math"
	"strconv"

	"d3p/internal/models/graph"
	"d3p/internal/models/source"
)

// attention is multi-head attention of a sequence [channel, position] to itself:
//
//	y = W_o · concat_h softmax(q_hᵀ k_h / √(C/H))·v_h + c_o,  [q; k; v] = W_i x + c_i
//
// with H heads of C/H channels. A causal one attends to no later position. Weights have
// PyTorch's names and order. All positions share W, so the gradient of a record is one
// term per weight, with a place for every position. Vaswani et al. 2017,
// arXiv:1706.03762.
func attention(p *plan, l *Layer) step {
	if len(p.shape) != 2 {
		return p.fail(l.Kind.At, "put an embedding before it", "layer %s needs [channel, position], not %v", l.Kind.V, p.shape)
	}
	channel, time := p.shape[0], p.shape[1]
	heads := l.Heads.V
	if channel.Size%heads != 0 {
		return p.fail(l.Heads.At, "a divisor of the number of channels", "layer %s has %d heads of %d channels", l.Kind.V, heads, channel.Size)
	}
	p.spans(time)
	name, size := p.layer.Name, channel.Size
	sd, biasSD := p.startSD(l, size, size)
	bias := func(kind string, d graph.Dim) int {
		if !l.Bias.Or(true) {
			return -1
		}
		return p.weight(l, kind, graph.Shape{d}, biasSD)
	}
	three, in := graph.Dim{Name: name + ".qkv", Size: 3 * size}, graph.Dim{Name: name + ".in", Size: size}
	inner := graph.Dim{Name: name, Size: size}
	w, c := p.weight(l, "in_proj_weight", graph.Shape{three, in}, sd), bias("in_proj_bias", three)
	wo, co := p.weight(l, "out_proj.weight", graph.Shape{inner, in}, sd), bias("out_proj.bias", inner)
	low, lowOut := p.adapter(l, "in_proj_", in, three), p.adapter(l, "out_proj.", in, inner)
	p.layer.Flops = 2 * time.Size * (4*size*size + 2*time.Size*size)
	shape := p.shape
	scale := 1 / math.Sqrt(float64(size/heads))
	return func(b *graph.Builder, x *graph.Node, call *Call) *graph.Node {
		x = b.Reshape(x, graph.Shape{in, time})
		all := call.plus(b, low.add(b, call, b.MatMul(call.weight(w), x), x), c)
		mask := call.outside(b, l.Causal.V, time.Size)
		width := size / heads
		out := make([]*graph.Node, heads)
		for h := range out {
			cut := func(k int) *graph.Node {
				first := k*size + h*width
				return b.Reshape(b.SliceRange(all, three.Name, first, first+width, "(head)"), graph.Shape{{Name: "(head)", Size: width}, {Name: key, Size: time.Size}})
			}
			q := b.Rename(b.Transpose(b.Mul(cut(0), b.Const(scale))), key, query)
			scores := b.Product(q, b.Transpose(cut(1))) // [query, key]
			if mask != nil {
				scores = b.Add(scores, mask)
			}
			out[h] = b.Product(cut(2), b.Softmax(scores, key)) // [(head), query]
		}
		y := b.Reshape(b.Stack(graph.Dim{Name: "(heads)", Size: heads}, out...), graph.Shape{in, time})
		return b.Reshape(call.plus(b, lowOut.add(b, call, b.MatMul(call.weight(wo), y), y), co), shape)
	}
}

// Names of the positions that attend and that are attended to; no name of the language
// can clash with them.
const query, key = "(query)", "(key)"

// far is below any score or value of a network.
const far = -1e30

// outside is added to scores [query, key]: far below any score if a key is no position of
// the record, or comes after the query of a causal layer; nil adds nothing.
func (c *Call) outside(b *graph.Builder, causal bool, positions int) *graph.Node {
	q, k := graph.Dim{Name: query, Size: positions}, graph.Dim{Name: key, Size: positions}
	var mask *graph.Node
	if causal {
		later := make([]float64, positions*positions)
		for i := range later {
			if i%positions > i/positions {
				later[i] = far
			}
		}
		mask = b.Consts(graph.Shape{q, k}, later)
	}
	if c.Length == nil {
		return mask
	}
	beyond := b.Mul(b.Const(far), b.Sub(b.Const(1), c.counted(b, k)))
	if mask == nil {
		return beyond
	}
	return b.Add(mask, beyond)
}

// counted is 1 at the positions of a dim that belong to the record, else 0.
func (c *Call) counted(b *graph.Builder, d graph.Dim) *graph.Node {
	t := make([]float64, d.Size)
	for i := range t {
		t[i] = float64(i)
	}
	return b.Less(b.Consts(graph.Shape{d}, t), c.Length)
}

// positions adds weights to every channel at every position of a sequence, whose order
// attention could not see otherwise.
func positions(p *plan, l *Layer) step {
	if len(p.shape) != 2 {
		return p.fail(l.Kind.At, "put an embedding before it", "layer %s needs [channel, position], not %v", l.Kind.V, p.shape)
	}
	sd := 0.02 // Devlin et al. 2019, arXiv:1810.04805
	if l.Init.Kind.IsSet() || p.init.Kind.IsSet() {
		sd, _ = p.startSD(l, 1, p.shape[0].Size)
	}
	w, shape := p.weight(l, "weight", p.shape, sd), p.shape
	return func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
		return b.Add(b.Reshape(x, shape), b.Reshape(c.weight(w), shape))
	}
}

// transformer is blocks of x + attention(norm x), then x + f(norm x) with
// f = W₂ gelu(W₁ x + c₁) + c₂ at every position, in the order of Xiong et al. 2020,
// arXiv:2002.04745. The normalisation is rms_norm.
func transformer(p *plan, l *Layer) step {
	if len(p.shape) != 2 {
		return p.fail(l.Kind.At, "put an embedding before it", "layer %s needs [channel, position], not %v", l.Kind.V, p.shape)
	}
	channels := Size{source.Value[string]{V: strconv.Itoa(p.shape[0].Size), At: l.Kind.At}}
	layer := func(kind string) *Layer {
		return &Layer{Kind: source.Value[string]{V: kind, At: l.Kind.At}, Init: l.Init}
	}
	dense := func(filters Size) *Layer {
		d := layer("conv1d")
		d.Filters, d.Kernel = filters, PerAxis{{V: 1, At: l.Kind.At}}
		return d
	}
	attends, widens := layer("multi_head_attention"), dense(l.Units)
	attends.Heads, attends.Causal = l.Heads, l.Causal
	widens.Activation = source.Value[string]{V: "gelu", At: l.Kind.At}
	first, second := layer("residual"), layer("residual")
	first.Layers = []*Layer{layer("rms_norm"), attends}
	second.Layers = []*Layer{layer("rms_norm"), widens, dense(channels)}
	var blocks []*Layer
	for range l.Depth.Or(1) {
		blocks = append(blocks, first, second)
	}
	steps, ok := p.layers(p.layer.Name, blocks)
	if !ok {
		return nil
	}
	return func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
		for _, s := range steps {
			x = s(b, x, c)
		}
		return x
	}
}
