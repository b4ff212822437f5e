package net

import (
	"strings"

	"d3p/internal/models/graph"
	"d3p/internal/models/source"
)

// An axis is one spatial dimension that a window of taps moves along: place p
// sees positions p·stride − low + t, t < taps; positions outside of 0..in−1 are
// padding.
type axis struct{ in, taps, stride, low, out int }

// position is the place that tap t of place p reads; -1 for padding.
func (a axis) position(p, t int) int {
	if i := p*a.stride - a.low + t; i >= 0 && i < a.in {
		return i
	}
	return -1
}

// A window moves along one to maxAxes axes.
type window []axis

// taps and places are the numbers of all axes together.
func (w window) taps() int   { return w.product(func(a axis) int { return a.taps }) }
func (w window) places() int { return w.product(func(a axis) int { return a.out }) }
func (w window) size() int   { return w.product(func(a axis) int { return a.in }) }

func (w window) product(of func(a axis) int) int {
	n := 1
	for _, a := range w {
		n *= of(a)
	}
	return n
}

// at is the flat position of a tap of a place, both flat, -1 for padding.
func (w window) at(tap, place int) int {
	at, stride := 0, 1
	for i := len(w) - 1; i >= 0; i-- {
		a := w[i]
		p := a.position(place%a.out, tap%a.taps)
		if p < 0 {
			return -1
		}
		at += p * stride
		stride *= a.in
		place, tap = place/a.out, tap/a.taps
	}
	return at
}

// window reads kernel, stride and padding of a layer over positions of the given sizes; ok
// is false after a mistake. Padding `same` is TensorFlow's: ⌈in/stride⌉ places, with more
// padding at the end if it is odd. A number is PyTorch's padding, on both sides. `valid`,
// the default, means no padding.
func (p *plan) window(l *Layer, sizes []int, kernel, stride []source.Value[int]) (w window, ok bool) {
	for i, in := range sizes {
		a := axis{in: in, taps: each(kernel, i), stride: each(stride, i)}
		high := 0
		switch {
		case l.Padding.Mode.V == "same":
			a.out = (in + a.stride - 1) / a.stride
			total := max(0, (a.out-1)*a.stride+a.taps-in)
			a.low, high = total/2, total-total/2
		case l.Padding.Margin.IsSet():
			a.low, high = l.Padding.Margin.V, l.Padding.Margin.V
		}
		a.out = (in+a.low+high-a.taps)/a.stride + 1
		switch {
		case in+a.low+high < a.taps:
			p.fail(l.Kind.At, "a smaller kernel, or `padding: same`", "layer %s has a kernel of %d over %d positions", l.Kind.V, a.taps, in+a.low+high)
			return nil, false
		case max(a.low, high) >= a.taps:
			p.fail(l.Kind.At, "less padding", "layer %s has places that see only padding", l.Kind.V)
			return nil, false
		}
		w = append(w, a)
	}
	return w, !p.tooManySeen(l, p.shape.Size()/w.size(), w)
}

// tooManySeen reports a layer whose windows see more numbers of a record than mostNumbers.
func (p *plan) tooManySeen(l *Layer, channels int, w window) bool {
	sizes := []int{channels}
	for _, a := range w {
		sizes = append(sizes, a.taps, a.out)
	}
	return p.above(l, "a smaller kernel, or a larger stride", "has windows that see %.3g numbers of one record", sizes)
}

// each is the i-th of the stated sizes. A single size holds for all axes; without a
// statement it is 1.
func each(list []source.Value[int], i int) int {
	switch len(list) {
	case 0:
		return 1
	case 1:
		return list[0].V
	}
	return list[i].V
}

// image is the shape of channels over positions that a layer with windows along
// some axes takes: an input without channels has one.
type image struct {
	channel graph.Dim
	space   graph.Shape
}

// image reads the plan's shape as channels and positions.
func (p *plan) image(l *Layer, axes int) (m image, ok bool) {
	switch len(p.shape) {
	case axes:
		return image{graph.Dim{Name: p.layer.Name + ".channel", Size: 1}, p.shape}, true
	case axes + 1:
		return image{p.shape[0], p.shape[1:]}, true
	}
	p.fail(l.Kind.At, "give it dims with `reshape`", "layer %s needs %s, not %v", l.Kind.V, imageWords(axes), p.shape)
	return m, false
}

func imageWords(axes int) string {
	if axes == 1 {
		return "[position] or [channel, position]"
	}
	space := strings.Join(axisNames(axes), ", ")
	return "[" + space + "] or [channel, " + space + "]"
}

// sizes are the sizes of the positions' dims.
func (m image) sizes() []int {
	var list []int
	for _, d := range m.space {
		list = append(list, d.Size)
	}
	return list
}

// positions names the dims of an output of these sizes: the image's dim if the size is the
// same, else a dim of the layer.
func (p *plan) positions(m image, sizes []int) graph.Shape {
	names := axisNames(len(sizes))
	var s graph.Shape
	for i, size := range sizes {
		if m.space[i].Size == size {
			s = append(s, m.space[i])
			continue
		}
		s = append(s, graph.Dim{Name: p.layer.Name + "." + names[i], Size: size})
	}
	return s
}

func (w window) outs() []int {
	var list []int
	for _, a := range w {
		list = append(list, a.out)
	}
	return list
}

// kernelShape are the dims of a filter's taps.
func (p *plan) kernelShape(w window) graph.Shape {
	names := axisNames(len(w))
	var s graph.Shape
	for i, a := range w {
		s = append(s, graph.Dim{Name: p.layer.Name + ".k" + names[i], Size: a.taps})
	}
	return s
}
