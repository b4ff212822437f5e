package net

import (
	"strconv"

	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
)

// flatten is the vector of all values in row-major order.
func flatten(p *plan, _ *Layer) step {
	return p.reshaped(graph.Shape{{Name: p.layer.Name, Size: p.shape.Size()}})
}

// reshape gives the values, in row-major order, dims that the model declares or
// sizes.
func reshape(p *plan, l *Layer) step {
	var shape graph.Shape
	switch {
	case len(l.Dims) > 0 && len(l.Shape) > 0:
		return p.fail(l.Kind.At, "state one of them", "layer reshape has dims and shape")
	case len(l.Shape) > 0:
		for i, size := range l.Shape {
			shape = append(shape, graph.Dim{Name: p.layer.Name + "." + strconv.Itoa(i+1), Size: size.V})
		}
	default:
		names := make([]*expr.Name, len(l.Dims))
		for i, d := range l.Dims {
			names[i] = &expr.Name{At: d.At, ID: d.V}
		}
		var errs expr.Errors
		shape, errs = (&expr.Env{Dims: p.dims}).Shape(names)
		if len(errs) > 0 {
			p.errs = append(p.errs, errs...)
			return nil
		}
	}
	if shape.Size() != p.shape.Size() {
		return p.fail(l.Kind.At, "", "layer reshape makes %v, %d values, from %v, %d values", shape, shape.Size(), p.shape, p.shape.Size())
	}
	return p.reshaped(shape)
}

func (p *plan) reshaped(shape graph.Shape) step {
	p.shape = shape
	return func(b *graph.Builder, x *graph.Node, _ *Call) *graph.Node { return b.Reshape(x, shape) }
}
