package net

import (
	"slices"
	"strconv"

	"d3p/internal/models/graph"
)

// A cell is the step of a recurrent layer from one position of a sequence to the next.
type cell struct {
	kind  Operator
	gates int // blocks of units in each weight
	// own: the product with the state has a separate bias for the last block.
	own  bool
	next func(b *graph.Builder, g *gated, s state) state
}

// state is the state that a cell passes to the next position: its output h and, for an
// LSTM, its memory c. Before the first position both are nil, which means 0.
type state struct{ h, c *graph.Node }

// gated are the products of one position: x = Wx + b of the input, and h = Uh of the
// state, nil for a state of 0.
type gated struct {
	x, h  *graph.Node
	bias  *graph.Node // of the last block of h; nil without one
	units int
}

// recurrent is h_t = f(W x_t + b, U h_{t-1}) along the last dim of [channel, position]:
// h from the first position to the last, from h = 0. Layers of depth read the outputs of
// those before; a bidirectional one has a second cell that walks from the end. Weights
// have the names, blocks and order of PyTorch's RNN, GRU and LSTM, with one bias where
// PyTorch has two that are added up. The gradient of a record with respect to W is
// Σ_t δ_t x_tᵀ and with respect to U Σ_t δ_t h_{t-1}ᵀ: each is one term with a place for
// every position, see graph.Term.
func recurrent(k cell) func(p *plan, l *Layer) step {
	return func(p *plan, l *Layer) step {
		m, ok := p.image(l, 1)
		if !ok {
			return nil
		}
		units, ok := p.dim(l.Units)
		if !ok {
			return nil
		}
		time := m.space[0]
		switch {
		case time.Size < 2:
			return p.fail(l.Kind.At, "use dense", "layer %s needs at least 2 positions, not %d", l.Kind.V, time.Size)
		case units.Name == time.Name:
			return p.fail(l.Units.At, "write a number", "layer %s has dim %s twice", l.Kind.V, units.Name)
		}
		p.spans(time)
		in := m.channel
		directions := 1
		if l.Bidirectional.V {
			directions = 2
		}
		var layers [][]weights
		for i := range l.Depth.Or(1) {
			var pair []weights
			for d := range directions {
				pair = append(pair, p.cell(l, k, in.Size, units, "_l"+strconv.Itoa(i)+[]string{"", "_reverse"}[d]))
				p.layer.Flops += 2 * time.Size * k.gates * units.Size * (in.Size + units.Size)
			}
			layers = append(layers, pair)
			in = graph.Dim{Name: p.layer.Name, Size: directions * units.Size}
		}
		out := units
		if directions == 2 {
			out = in
		}
		sequence := l.Output.V == "sequence"
		if p.shape = (graph.Shape{out}); sequence {
			p.shape = graph.Shape{out, time}
		}
		r := recurrence{k, layers, time, units.Size, m.channel.Size, p.shape, sequence}
		return r.apply
	}
}

// recurrence is cells on top of each other, with one direction or two each.
type recurrence struct {
	cell     cell
	layers   [][]weights
	time     graph.Dim
	units    int
	channels int         // of the input
	shape    graph.Shape // of the output
	sequence bool        // all positions, not the last
}

func (r recurrence) apply(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
	inputs := make([]*graph.Node, r.time.Size)
	for t := range inputs {
		inputs[t] = vectorOf(b, b.Slice(x, r.time.Name, t))
	}
	var last *graph.Node
	for _, pair := range r.layers {
		var outputs [][]*graph.Node
		var ends []*graph.Node
		for d, w := range pair {
			h := r.cell.walk(b, c, w, inputs, d == 1, r.units)
			outputs = append(outputs, h)
			ends = append(ends, h[[]int{len(h) - 1, 0}[d]])
		}
		for t := range inputs {
			inputs[t] = outputs[0][t]
			if len(pair) == 2 {
				inputs[t] = side(b, outputs[0][t], outputs[1][t])
			}
		}
		if last = ends[0]; len(pair) == 2 {
			last = side(b, ends...)
		}
	}
	if !r.sequence {
		c.did(r.operation(x, last, c))
		return b.Reshape(last, r.shape)
	}
	all := b.Stack(r.time, inputs...) // [position, (v)]
	c.did(r.operation(x, all, c))
	return b.Reshape(b.Transpose(all), r.shape)
}

// operation is the layer as a whole.
func (r recurrence) operation(x, out *graph.Node, c *Call) Operation {
	o := Operation{Kind: r.cell.kind, In: x, Out: out, Channels: r.channels, Units: r.units, Sequence: r.sequence, Length: c.Length}
	weight := func(i int) *graph.Node {
		if i < 0 {
			return nil
		}
		return c.weight(i)
	}
	for _, pair := range r.layers {
		var cells []Cell
		for _, w := range pair {
			cells = append(cells, Cell{weight(w.input), weight(w.state), weight(w.bias), weight(w.own)})
		}
		o.Cells = append(o.Cells, cells)
	}
	return o
}

// vectorOf is x as a vector.
func vectorOf(b *graph.Builder, x *graph.Node) *graph.Node {
	return b.Reshape(x, graph.Shape{{Name: values, Size: x.Size()}})
}

// side is the vector of the elements of each, one after the other.
func side(b *graph.Builder, x ...*graph.Node) *graph.Node {
	return vectorOf(b, b.Stack(graph.Dim{Name: "(direction)", Size: len(x)}, x...))
}

// values is the dim of a vector; no name of the language can clash with it.
const values = "(v)"

// weights are the places of a cell's weights; -1 for missing ones.
type weights struct{ input, state, bias, own int }

// cell adds the weights of one cell.
func (p *plan) cell(l *Layer, k cell, in int, units graph.Dim, suffix string) weights {
	name := p.layer.Name
	blocks := graph.Dim{Name: name + ".gates", Size: k.gates * units.Size}
	inputSD, biasSD := p.startSD(l, in, units.Size)
	stateSD, _ := p.startSD(l, units.Size, units.Size)
	w := weights{bias: -1, own: -1}
	w.input = p.weight(l, "weight_ih"+suffix, graph.Shape{blocks, {Name: name + ".in", Size: in}}, inputSD)
	w.state = p.weight(l, "weight_hh"+suffix, graph.Shape{blocks, {Name: name + ".h", Size: units.Size}}, stateSD)
	if l.Bias.Or(true) {
		w.bias = p.weight(l, "bias_ih"+suffix, graph.Shape{blocks}, biasSD)
		own := 0
		if k.own {
			own = units.Size
			w.own = p.weight(l, "bias_hh"+suffix, graph.Shape{{Name: name + ".h", Size: own}}, biasSD)
			p.net.Weights[w.own].torch = ownBias(suffix, own)
		}
		p.net.Weights[w.bias].torch = summedBias(suffix, own)
	}
	return w
}

// walk is the output of a cell at every position, from the last to the first if
// backward. A position beyond the length of the record keeps the state.
func (k cell) walk(b *graph.Builder, c *Call, w weights, inputs []*graph.Node, backward bool, units int) []*graph.Node {
	blocks, in := graph.Dim{Name: "(gates)", Size: k.gates * units}, graph.Dim{Name: values, Size: inputs[0].Size()}
	weight := func(i int, s graph.Shape) *graph.Node {
		if i < 0 {
			return nil
		}
		return b.Reshape(c.weight(i), s)
	}
	input, state0 := weight(w.input, graph.Shape{blocks, in}), weight(w.state, graph.Shape{blocks, {Name: values, Size: units}})
	bias, own := weight(w.bias, graph.Shape{blocks}), weight(w.own, graph.Shape{{Name: values, Size: units}})
	outputs := make([]*graph.Node, len(inputs))
	order := make([]int, len(inputs))
	for i := range order {
		order[i] = i
	}
	if backward {
		slices.Reverse(order)
	}
	var s state
	for _, t := range order {
		g := &gated{x: b.MatMul(input, inputs[t]), bias: own, units: units}
		if bias != nil {
			g.x = b.Add(g.x, bias)
		}
		if s.h != nil {
			g.h = b.MatMul(state0, s.h)
		}
		next := k.next(b, g, s)
		if inside := c.inside(b, t); inside != nil {
			next.h = kept(b, inside, next.h, s.h)
			if next.c != nil {
				next.c = kept(b, inside, next.c, s.c)
			}
		}
		s = next
		outputs[t] = s.h
	}
	return outputs
}

// kept is next where inside is 1, and before where it is 0.
func kept(b *graph.Builder, inside, next, before *graph.Node) *graph.Node {
	if before == nil {
		return b.Mul(inside, next)
	}
	return b.Add(before, b.Mul(inside, b.Sub(next, before)))
}

// block is Wx + b + Uh of some blocks of the gates.
func (g *gated) block(b *graph.Builder, low, high int) *graph.Node {
	x := g.input(b, low, high)
	if g.h == nil {
		return x
	}
	return b.Add(x, g.state(b, low, high))
}

func (g *gated) input(b *graph.Builder, low, high int) *graph.Node { return g.cut(b, g.x, low, high) }
func (g *gated) state(b *graph.Builder, low, high int) *graph.Node { return g.cut(b, g.h, low, high) }

func (g *gated) cut(b *graph.Builder, x *graph.Node, low, high int) *graph.Node {
	return b.SliceRange(x, "(gates)", low*g.units, high*g.units, values)
}

// elman is h' = tanh(Wx + b + Uh), or with relu. Elman 1990.
func elman() cell {
	return cell{kind: Elman, gates: 1, next: func(b *graph.Builder, g *gated, _ state) state {
		return state{h: b.Tanh(g.block(b, 0, 1))}
	}}
}

// gru has the blocks r, z, n: h' = (1 − z)·n + z·h with n = tanh(Wx + b + r·(Uh + b')).
// Cho et al. 2014, arXiv:1406.1078, with PyTorch's place of r.
func gru() cell {
	return cell{kind: GRU, gates: 3, own: true, next: func(b *graph.Builder, g *gated, s state) state {
		both := b.Sigmoid(g.block(b, 0, 2))
		r, z := b.SliceRange(both, values, 0, g.units, values), b.SliceRange(both, values, g.units, 2*g.units, values)
		n := g.input(b, 2, 3)
		switch {
		case g.h != nil && g.bias != nil:
			n = b.Add(n, b.Mul(r, b.Add(g.state(b, 2, 3), g.bias)))
		case g.h != nil:
			n = b.Add(n, b.Mul(r, g.state(b, 2, 3)))
		case g.bias != nil:
			n = b.Add(n, b.Mul(r, g.bias))
		}
		n = b.Tanh(n)
		if s.h == nil {
			return state{h: b.Sub(n, b.Mul(z, n))}
		}
		return state{h: b.Add(n, b.Mul(z, b.Sub(s.h, n)))}
	}}
}

// lstm has the blocks i, f, g, o: c' = σ(f)·c + σ(i)·tanh(g), h' = σ(o)·tanh(c').
// Hochreiter and Schmidhuber 1997; Gers et al. 2000.
func lstm() cell {
	return cell{kind: LSTM, gates: 4, next: func(b *graph.Builder, g *gated, s state) state {
		both := b.Sigmoid(g.block(b, 0, 2))
		i, f := b.SliceRange(both, values, 0, g.units, values), b.SliceRange(both, values, g.units, 2*g.units, values)
		c := b.Mul(i, b.Tanh(g.block(b, 2, 3)))
		if s.c != nil {
			c = b.Add(b.Mul(f, s.c), c)
		}
		return state{h: b.Mul(b.Sigmoid(g.block(b, 3, 4)), b.Tanh(c)), c: c}
	}}
}
