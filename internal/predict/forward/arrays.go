package forward

import (
	"fmt"

	"d3p/internal/models/graph"
	"d3p/internal/onnx"
)

// matrix is a constant matrix times a record's Cols×Width matrix; see graph.Instr.
func (l *lowering) matrix(w, x value, d graph.Detail, dims []int) value {
	if d.Width == 1 {
		stored, transB := []int{d.Rows, d.Cols}, 1
		if d.Trans {
			stored, transB = []int{d.Cols, d.Rows}, 0
		}
		y := l.to.Node("Gemm", onnx.Attributes{"transB": transB}, l.perRecord(x, []int{d.Cols}), l.floats(w, stored))
		return l.in(value{name: y, dims: []int{d.Rows}}, dims)
	}
	if d.Trans {
		w = transposed(w, d.Cols, d.Rows)
	}
	y := l.to.Node("MatMul", nil, l.floats(w, []int{d.Rows, d.Cols}), l.perRecord(x, []int{d.Cols, d.Width}))
	return l.in(value{name: y, dims: []int{d.Rows, d.Width}}, dims)
}

// transposed turns a constant matrix.
func transposed(w value, rows, cols int) value {
	turned := make([]float64, len(w.constant))
	for r := range rows {
		for c := range cols {
			turned[c*rows+r] = w.constant[r*cols+c]
		}
	}
	return value{constant: turned, of: w.of}
}

// gather picks a block of Cols numbers for each of Width indices; see graph.Instr.
func (l *lowering) gather(x, index value, d graph.Detail, dims []int) value {
	at := l.to.Node("Cast", onnx.Attributes{"to": int(onnx.Int64)}, l.perRecord(index, []int{d.Width}))
	var y string
	if x.constant != nil {
		y = l.to.Node("Gather", onnx.Attributes{"axis": 0}, l.floats(x, []int{d.Rows, d.Cols}), at)
	} else {
		at = l.to.Node("Unsqueeze", nil, at, l.ints([]int{2}))
		y = l.to.Node("GatherND", onnx.Attributes{"batch_dims": 1}, l.perRecord(x, []int{d.Rows, d.Cols}), at)
	}
	picked := value{name: y, dims: []int{d.Width, d.Cols}}
	if d.Width > 1 && d.Cols > 1 {
		picked = value{name: l.to.Node("Transpose", onnx.Attributes{"perm": []int{0, 2, 1}}, y), dims: []int{d.Cols, d.Width}}
	}
	return l.in(picked, dims)
}

// stack joins values, one after the other.
func (l *lowering) stack(parts []value, dims []int) value {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = l.perRecord(p, []int{p.size()})
	}
	joined := value{name: l.to.Node("Concat", onnx.Attributes{"axis": 1}, names...), dims: []int{product(dims)}}
	return l.in(joined, dims)
}

// reduce adds up elements that have one target, or takes their maximum.
func (l *lowering) reduce(n *graph.Node, x value) (value, error) {
	into, dims := n.Detail().Index, n.Shape().Sizes()
	name := map[graph.Op]string{graph.OpSum: "ReduceSum", graph.OpMaxReduce: "ReduceMax"}[n.Op()]
	if from, axes, ok := reduced(into, n.Size(), x.dims); ok {
		at := l.perRecord(x, from)
		var y string
		if n.Op() == graph.OpSum {
			y = l.to.Node(name, onnx.Attributes{"keepdims": 0}, at, l.ints(axes))
		} else {
			y = l.to.Node(name, onnx.Attributes{"keepdims": 0, "axes": axes}, at)
		}
		return l.in(value{name: y, dims: without(from, axes)}, dims), nil
	}
	if n.Op() != graph.OpSum {
		return value{}, fmt.Errorf("ONNX has no operator for this maximum (d3p predict computes it)")
	}
	targets := make([]int, len(into))
	for i, j := range into {
		targets[i] = int(j)
	}
	flat := l.perRecord(x, []int{len(into)})
	zeros := l.perRecord(value{constant: make([]float64, n.Size()), of: "zeros"}, []int{n.Size()})
	at := l.to.Node("Expand", nil, l.to.Ints("targets", targets, 1, len(into)), l.to.Node("Shape", nil, flat))
	y := l.to.Node("ScatterElements", onnx.Attributes{"axis": 1, "reduction": "add"}, zeros, at, flat)
	return l.in(value{name: y, dims: []int{n.Size()}}, dims), nil
}

// reduced finds the axes of x that a reduction to size elements drops: targets count up
// along the other axes, in order. Axis 0 holds the records.
func reduced(into []int32, size int, dims []int) (from, axes []int, ok bool) {
	if len(into) != product(dims) {
		return nil, nil, false
	}
	steps, inner := make([]int, len(dims)), 1
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] > 1 {
			steps[i] = int(into[inner])
		}
		inner *= dims[i]
	}
	want := 1
	for i := len(dims) - 1; i >= 0; i-- {
		switch {
		case dims[i] > 1 && steps[i] == 0:
			axes = append([]int{i + 1}, axes...)
		case dims[i] > 1 && steps[i] != want:
			return nil, nil, false
		default:
			want *= dims[i]
		}
	}
	if want != size || !affine(into, dims, steps, 0) {
		return nil, nil, false
	}
	return dims, axes, true
}

// without is dims without the dims of some axes.
func without(dims, axes []int) (kept []int) {
	for i, d := range dims {
		dropped := false
		for _, a := range axes {
			dropped = dropped || a == i+1
		}
		if !dropped {
			kept = append(kept, d)
		}
	}
	return kept
}

// affine reports whether index is first + Σ steps·position over all positions of dims.
func affine(index []int32, dims, steps []int, first int) bool {
	position := make([]int, len(dims))
	at := first
	for _, j := range index {
		if int(j) != at {
			return false
		}
		for d := len(dims) - 1; d >= 0; d-- {
			position[d]++
			at += steps[d]
			if position[d] < dims[d] {
				break
			}
			at -= steps[d] * dims[d]
			position[d] = 0
		}
	}
	return true
}
