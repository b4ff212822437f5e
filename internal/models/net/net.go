// Package net resolves the networks of a model file: the shape of every value, the weights
// with their places and first values, and the graph of a call. One layer is one file and
// one row in the table of kinds, from which package spec reads and prints it.
//
// A net maps one record's value to one record's value. No layer mixes records: package spec
// refuses those of other libraries by name.
//
// Clipping needs the norm of every record's gradient g_b and Σ_b f_b g_b. With the input a
// of a layer and the adjoint δ = ∂ℓ/∂y of its output, A and Δ for the whole batch:
//
//	dense, y = aW + c      gradient a δᵀ; δ   squared norm (a² + 1) δ²   sum Aᵀ diag(f) Δ
//	convolution, patches   Σ_p δ_p x_pᵀ; Σ_p δ_p   Σ_pq (x_p·x_q)(δ_p·δ_q), or element by
//	x_p at places p        element; the sum is one product over pairs of record and place
//	transposed             Σ_p x_p d_pᵀ, d_p the patch of δ that position p reached
//	recurrent              Σ_t δ_t x_tᵀ; Σ_t δ_t h_(t−1)ᵀ; Σ_t δ_t: places are positions
//	attention              q, k, v and output: Σ_t δ_t x_tᵀ; Σ_t δ_t, likewise
//	embedding of k_p       row k: Σ_(p: k_p = k) δ_p; adds f δ_p to row k_p
//	normalisation          y = x̂·w + c: Σ_p δ_p x̂_p; Σ_p δ_p, kept as numbers
//	positions              δ, kept as numbers
//
// A convolution's squared norm costs P²(R + F) multiplications by Gram matrices (P places,
// R numbers of a patch, F filters) or P·R·F by elements (Bu et al. 2022, arXiv:2205.10683);
// the compiler takes the cheaper form for each layer (Term.Gram). Mean and variance of a
// normalisation depend on one record only, so its adjoint does, too. A maximum passes its
// gradient to the largest value, in equal shares at a tie. Dropout's mask is noise for each
// record and step. A net called k times for a record has ∂ℓ/∂W = Σ_i G_i with squared norm
// Σ_ij ⟨G_i, G_j⟩; the tape lists the pairs (Tape.Cross). Weights made of other parameters
// keep the structure under scalars, scales per row or column, and products.
package net

import (
	"fmt"
	"slices"
	"strings"

	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
)

// Net is a network whose shapes fit.
type Net struct {
	Name    string
	Weights []Weight
	Layers  []Built // all weights: those of the trunk, then those of each head
	input   graph.Shape
	trunk   []step
	heads   []head   // of a net without heads: one without a name
	spans   []span   // of the layers that take a length
	Notes   []string // layers that the public file of weights lacks
}

// Weight is an array of weights.
type Weight struct {
	Name  string // encoder.loc.dense1.weight
	Shape graph.Shape
	// Mean and SD of the normal distribution of the first values; SD 0: all start at the
	// mean. The draw is public.
	Mean, SD float64
	// Values are the values of a public file, at which the weights start or, if Frozen,
	// stay; nil without a file.
	Values []float64
	Frozen bool
	At     expr.Position

	layer, kind string // encoder.loc.dense1 and weight
	torch       layout // nil: as in PyTorch
	adapter     bool   // of low rank, added to the weights of a file
}

// isBias distinguishes the biases of PyTorch's layers, such as bias_ih_l0 and in_proj_bias,
// from other weights.
func (w *Weight) isBias() bool { return strings.Contains(w.kind, "bias") }

// Built describes one layer for reports.
type Built struct {
	Name    string // encoder.loc.dense1
	Out     graph.Shape
	Weights int // scalars that are trained
	Frozen  int // scalars that are not
	FanIn   int // products that an output sums; 0 if a record picks or scales weights
	// Flops are the additions and multiplications of the forward pass of one
	// record's matrix products; the backward pass has twice as many.
	Flops int
}

type head struct {
	name  string
	steps []step
}

// step computes a layer's value from the value before it, in a call.
type step func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node

// A Call has the inputs that the layers of one call of a net need besides their own.
type Call struct {
	// Weight is the node of an array of weights.
	Weight func(w Weight) *graph.Node
	// Noise is standard normal noise, new for every record and step, for a layer at an
	// input; nil if layers draw nothing, as in predictions.
	Noise func(layer string, input *graph.Node, shape graph.Shape) *graph.Node

	// Length is the number of positions of a record's sequence that belong to it, from the
	// first; nil means all.
	Length *graph.Node

	// Operation is called with layers that other formats have as one operation; it may be
	// nil.
	Operation func(o Operation)

	net *Net
}

// inside is 1 at position t of a sequence if t belongs to the record, else 0; nil without a
// length.
func (c *Call) inside(b *graph.Builder, t int) *graph.Node {
	if c.Length == nil {
		return nil
	}
	return b.Less(b.Const(float64(t)), c.Length)
}

// within is x, channels at positions of a sequence, with another number at the positions
// that do not count.
func (c *Call) within(b *graph.Builder, x *graph.Node, m image, beyond float64) *graph.Node {
	if c.Length == nil || len(m.space) > 1 {
		return x
	}
	inside := c.counted(b, graph.Dim{Name: places, Size: m.space[0].Size})
	x = b.Mul(b.Reshape(x, graph.Shape{m.channel, inside.Shape()[0]}), inside)
	if beyond == 0 {
		return x
	}
	return b.Add(x, b.Mul(b.Const(beyond), b.Sub(b.Const(1), inside)))
}

// span is the number of positions that a layer visits.
type span struct {
	layer string
	size  int
}

// Length reports why a call cannot state a length; "" if it can.
func (n *Net) Length() string {
	switch {
	case len(n.input) == 0: // a mistake that is reported
		return ""
	case len(n.spans) == 0:
		return "no layer of net " + n.Name + " takes a length"
	}
	for _, s := range n.spans {
		if want := n.input[len(n.input)-1].Size; s.size != want {
			return fmt.Sprintf("layer %s has %d positions, and the input of the net %d", s.layer, s.size, want)
		}
	}
	return ""
}

// weight is the node of the net's i-th array of weights.
func (c *Call) weight(i int) *graph.Node { return c.Weight(c.net.Weights[i]) }

// plus adds the net's i-th array of weights, a bias; i = -1 means no bias.
func (c *Call) plus(b *graph.Builder, y *graph.Node, i int) *graph.Node {
	if i < 0 {
		return y
	}
	return b.Add(y, c.weight(i))
}

// Resolve finds shapes and weights of a network. Its mistakes are all reported,
// each at its place; the Net is nil then.
func Resolve(n *Declaration, dims map[string]expr.Dim) (*Net, expr.Errors) {
	p := &plan{net: &Net{Name: n.Name.V}, dims: dims, init: n.Init}
	names := make([]*expr.Name, len(n.Input))
	for i, d := range n.Input {
		names[i] = &expr.Name{At: d.At, ID: d.V}
	}
	p.net.input, p.errs = (&expr.Env{Dims: dims}).Shape(names)
	if len(p.errs) > 0 {
		return nil, p.errs
	}
	p.shape = p.net.input
	p.net.trunk, _ = p.layers(n.Name.V, n.Layers)
	trunk := p.shape
	for _, h := range n.Heads {
		p.shape = trunk
		steps, _ := p.layers(n.Name.V+"."+h.Name.V, h.Layers)
		p.net.heads = append(p.net.heads, head{h.Name.V, steps})
	}
	if len(n.Heads) == 0 {
		p.net.heads = []head{{"", nil}}
	}
	if len(p.errs) == 0 {
		p.freeze(n.Train.V == TrainBiases)
		p.pretrained(n)
	}
	if len(p.errs) > 0 {
		return nil, p.errs
	}
	return p.net, nil
}

// Input is the shape of the net's argument.
func (n *Net) Input() graph.Shape { return n.input }

// Heads names the outputs; nil for a net that has one without a name.
func (n *Net) Heads() []string {
	var names []string
	for _, h := range n.heads {
		if h.name != "" {
			names = append(names, h.name)
		}
	}
	return names
}

// Apply is the output of a head, "" for a net without heads, at x. An output of a single
// value without its own dim is a number.
func (n *Net) Apply(b *graph.Builder, x *graph.Node, name string, c Call) *graph.Node {
	c.net = n
	for _, s := range n.trunk {
		x = s(b, x, &c)
	}
	for _, h := range n.heads {
		if h.name != name {
			continue
		}
		for _, s := range h.steps {
			x = s(b, x, &c)
		}
	}
	if s := x.Shape(); len(s) == 1 && s[0].Size == 1 && n.Own(s[0]) {
		return b.Reshape(x, nil)
	}
	return x
}

// Own distinguishes dims that a layer made from dims that the model declares.
func (n *Net) Own(d graph.Dim) bool {
	return slices.ContainsFunc(n.Layers, func(l Built) bool { return l.Name == d.Name || strings.HasPrefix(d.Name, l.Name+".") })
}
