package net

import (
	"math"
	"strconv"

	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
)

// plan walks through the layers with the shape of the value that they are at.
type plan struct {
	net   *Net
	dims  map[string]expr.Dim
	init  Init // of layers that state none
	shape graph.Shape
	errs  expr.Errors
	layer *Built // the present layer
}

// layers resolves a list of layers. It stops and returns false after a mistake, because the
// shape is then unknown.
func (p *plan) layers(path string, list []*Layer) (steps []step, ok bool) {
	count := make(map[string]int)
	for _, l := range list {
		name := l.Kind.V
		count[name]++
		at := len(p.net.Layers) // layers may have layers
		p.net.Layers = append(p.net.Layers, Built{Name: path + "." + name + strconv.Itoa(count[name])})
		p.layer = &p.net.Layers[at]
		if p.tooMany(l) {
			return nil, false
		}
		kind, _ := KindNamed(name)
		s := kind.build(p, l)
		if s == nil {
			return nil, false
		}
		steps = append(steps, s)
		if a := l.Activation.V; a != "" {
			steps = append(steps, activation(a))
		}
		p.net.Layers[at].Out = p.shape
		if p.tooMany(l) {
			return nil, false
		}
	}
	return steps, true
}

// mostNumbers bounds the numbers of a record between layers, so that a mistake in a shape
// is an error rather than a program without memory.
const mostNumbers = 1 << 26

// tooMany reports a layer that reads or writes more numbers of a record than mostNumbers.
func (p *plan) tooMany(l *Layer) bool {
	var sizes []int
	for _, d := range p.shape {
		sizes = append(sizes, d.Size)
	}
	return p.above(l, "", "has %.3g numbers of one record", sizes)
}

// above reports a layer if the product of sizes is above mostNumbers, in the given words.
func (p *plan) above(l *Layer, hint, words string, sizes []int) bool {
	n := 1.0
	for _, size := range sizes {
		n *= float64(size)
	}
	if n > mostNumbers {
		p.fail(l.Kind.At, hint, "layer %s "+words+", more than %d", l.Kind.V, n, mostNumbers)
	}
	return n > mostNumbers
}

// fail reports a mistake of the layer.
func (p *plan) fail(at expr.Position, hint, format string, args ...any) step {
	p.errs.Add(at, hint, format, args...)
	return nil
}

// weight adds an array of weights and returns its index.
func (p *plan) weight(l *Layer, name string, shape graph.Shape, sd float64) int {
	p.net.Weights = append(p.net.Weights, Weight{
		Name: p.layer.Name + "." + name, Shape: shape, SD: sd, Frozen: l.Frozen.V || l.LoRA.Rank.IsSet(), At: l.Kind.At,
		layer: p.layer.Name, kind: name,
	})
	p.layer.Weights += shape.Size()
	return len(p.net.Weights) - 1
}

// adapter adds the low-rank factors A (rank, in) and B (out, rank) of a change BA of a
// frozen matrix W (out, in): A starts at N(0, 1/in), B at zero. Hu et al. 2021,
// arXiv:2106.09685, with α = rank. Both are -1 without `lora:`.
func (p *plan) adapter(l *Layer, kind string, in, out graph.Dim) adapter {
	if !l.LoRA.Rank.IsSet() {
		return adapter{-1, -1}
	}
	rank := graph.Dim{Name: p.layer.Name + ".rank", Size: l.LoRA.Rank.V}
	if side := min(in.Size, out.Size); rank.Size > side {
		p.errs.Add(l.LoRA.Rank.At, "no matrix between them has a higher rank; without lora: all of it is trained", "rank %d is more than %d, the smaller of the layer's sizes %d and %d", rank.Size, side, in.Size, out.Size)
	}
	factor := func(name string, shape graph.Shape, sd float64) int {
		i := p.weight(l, kind+name, shape, sd)
		p.net.Weights[i].Frozen, p.net.Weights[i].adapter = false, true
		return i
	}
	return adapter{factor("lora_a", graph.Shape{rank, in}, 1/math.Sqrt(float64(in.Size))), factor("lora_b", graph.Shape{out, rank}, 0)}
}

// adapter is the places of the factors A and B of a change of a matrix.
type adapter struct{ a, b int }

// add is y + BAx, for x (in) or (in, positions).
func (f adapter) add(b *graph.Builder, c *Call, y, x *graph.Node) *graph.Node {
	if f.a < 0 {
		return y
	}
	inner := b.MatMul(c.weight(f.a), x)
	return b.Add(y, b.MatMul(c.weight(f.b), inner))
}

// freeze marks the weights that are not biases, if only biases are trained, and counts the
// trained weights of each layer.
func (p *plan) freeze(biases bool) {
	frozen := make(map[string]int)
	for i := range p.net.Weights {
		w := &p.net.Weights[i]
		w.Frozen = w.Frozen || biases && !w.adapter && !w.isBias()
		if w.Frozen {
			frozen[w.layer] += w.Shape.Size()
		}
	}
	for i := range p.net.Layers {
		l := &p.net.Layers[i]
		l.Frozen = frozen[l.Name]
		l.Weights -= l.Frozen
	}
}

// startSD are the standard deviations of the first weights and biases of a layer in which
// every output sums fanIn products and every input goes into fanOut. Glorot and Bengio 2010
// (normal form, the default): 2/(fanIn+fanOut) is the variance of a weight; He et al. 2015:
// 2/fanIn; biases start at zero. {normal: s} is for weights and biases. The layer keeps its
// largest fanIn.
func (p *plan) startSD(l *Layer, fanIn, fanOut int) (weight, bias float64) {
	p.layer.FanIn = max(p.layer.FanIn, fanIn)
	init := l.Init
	if !init.Kind.IsSet() {
		init = p.init
	}
	switch init.Kind.V {
	case "normal":
		return init.SD.V, init.SD.V
	case "he":
		return math.Sqrt(2 / float64(fanIn)), 0
	case "zero":
		return 0, 0
	}
	return math.Sqrt(2 / float64(fanIn+fanOut)), 0
}

// dim is the dim of an output: a declared one by its name, or one of the
// layer's own by a number.
func (p *plan) dim(units Size) (graph.Dim, bool) { return p.dimOf(units, p.layer.Name) }

// dimOf is a declared dim by its name, or one of the layer's own, of this name,
// by a number.
func (p *plan) dimOf(units Size, own string) (graph.Dim, bool) {
	if n, err := strconv.Atoi(units.V); err == nil {
		if n < 1 {
			p.fail(units.At, "", "a layer has at least one unit, not %d", n)
			return graph.Dim{}, false
		}
		return graph.Dim{Name: own, Size: n}, true
	}
	s, errs := (&expr.Env{Dims: p.dims}).Shape([]*expr.Name{{At: units.At, ID: units.V}})
	if len(errs) > 0 {
		p.errs = append(p.errs, errs...)
		return graph.Dim{}, false
	}
	return s[0], true
}

// sequence notes that windows along the positions of a sequence take its length.
func (p *plan) sequence(m image) {
	if len(m.space) == 1 {
		p.spans(m.space[0])
	}
}

// spans notes that the layer visits a dim up to the length of a record.
func (p *plan) spans(d graph.Dim) {
	p.net.spans = append(p.net.spans, span{p.layer.Name, d.Size})
}
