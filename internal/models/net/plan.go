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
	layer *Built // the one in the making
}

// layers resolves a list of layers; after a mistake it goes no further, since
// the shape is not known, and reports false.
func (p *plan) layers(path string, list []*Layer) (steps []step, ok bool) {
	count := make(map[string]int)
	for _, l := range list {
		name := l.Kind.V
		count[name]++
		at := len(p.net.Layers) // layers may have layers
		p.net.Layers = append(p.net.Layers, Built{Name: path + "." + name + strconv.Itoa(count[name])})
		p.layer = &p.net.Layers[at]
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
	}
	return steps, true
}

// fail reports a mistake of the layer.
func (p *plan) fail(at expr.Position, hint, format string, args ...any) step {
	p.errs.Add(at, hint, format, args...)
	return nil
}

// weight adds an array of weights and returns its index.
func (p *plan) weight(l *Layer, name string, shape graph.Shape, sd float64) int {
	p.net.Weights = append(p.net.Weights, Weight{Name: p.layer.Name + "." + name, Shape: shape, SD: sd, At: l.Kind.At})
	p.layer.Weights += shape.Size()
	return len(p.net.Weights) - 1
}

// startSD are the standard deviations of the first weights and biases of a
// layer in which every output sums fanIn products and every input goes into
// fanOut. Glorot and Bengio 2010 (normal form, the default): 2/(fanIn+fanOut)
// is the variance of a weight; He et al. 2015: 2/fanIn; biases start at zero.
// {normal: s} is for weights and biases alike.
func (p *plan) startSD(l *Layer, fanIn, fanOut int) (weight, bias float64) {
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

// spans notes that the layer walks along a dim, as far as the length of a record.
func (p *plan) spans(d graph.Dim) {
	p.net.spans = append(p.net.spans, span{p.layer.Name, d.Size})
}
