package forward

import (
	"maps"
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/models/net"
	"d3p/internal/onnx"
)

// layer notes a layer that ONNX has. Its readers decide whether it becomes an ONNX layer:
// if the graph reads inside the layer, its nodes are written.
func (l *lowering) layer(o net.Operation) {
	if len(o.Cells) > 0 && o.Sequence && o.Length != nil {
		return // ONNX has zeros beyond the length, d3p the last state
	}
	out := o.Out
	if out.Op() == graph.OpView && out.Detail().Index == nil {
		out = out.Args()[0]
	}
	if o.In.Stage()&graph.StageData != 0 {
		l.layers[out] = o
	}
}

// operands are the nodes that a layer is written from.
func operands(o net.Operation) []*graph.Node {
	list := []*graph.Node{o.In, o.Filters, o.Length}
	for _, pair := range o.Cells {
		for _, c := range pair {
			list = append(list, c.Input, c.State, c.Bias, c.Own)
		}
	}
	return slices.DeleteFunc(list, func(n *graph.Node) bool { return n == nil })
}

// whole writes a layer; dims are the dims of its output.
func (l *lowering) whole(o net.Operation, dims []int) value {
	if len(o.Cells) > 0 {
		return l.recurrent(o, dims)
	}
	return l.windows(o, dims)
}

// windows writes filters and pools.
func (l *lowering) windows(o net.Operation, dims []int) value {
	var in, out, kernel, strides, low, high, extra []int
	for _, a := range o.Axes {
		kernel, strides = append(kernel, a.Taps), append(strides, a.Stride)
		in, out = append(in, a.In), append(out, a.Out)
		beyond := (a.Out-1)*a.Stride + a.Taps - a.Low - a.In
		low, high, extra = append(low, a.Low), append(high, max(0, beyond)), append(extra, max(0, -beyond))
	}
	set := onnx.Attributes{"kernel_shape": kernel, "strides": strides, "pads": slices.Concat(low, high)}
	channels := o.Channels
	var y string
	switch o.Kind {
	case net.Transposed:
		in, out = out, in
		set["output_padding"] = extra
		fallthrough
	case net.Convolution:
		w := l.values[o.Filters]
		shape := o.Filters.Shape().Sizes()
		name := map[net.Operator]string{net.Convolution: "Conv", net.Transposed: "ConvTranspose"}[o.Kind]
		y = l.to.Node(name, set, l.perRecord(l.values[o.In], slices.Concat([]int{channels}, in)), l.floats(w, shape))
		channels = product(dims) / product(out)
	case net.LargestPool:
		y = l.to.Node("MaxPool", set, l.perRecord(l.values[o.In], slices.Concat([]int{channels}, in)))
	case net.MeanPool:
		set["count_include_pad"] = 1
		y = l.to.Node("AveragePool", set, l.perRecord(l.values[o.In], slices.Concat([]int{channels}, in)))
	}
	return l.in(value{name: y, dims: slices.Concat([]int{channels}, out)}, dims)
}

// cells has the name of each recurrent layer in ONNX, and the order of the blocks of its
// weights, by their places in ours.
var cells = map[net.Operator]struct {
	name   string
	blocks []int
	set    onnx.Attributes
}{
	net.Elman: {"RNN", []int{0}, nil},
	net.GRU:   {"GRU", []int{1, 0, 2}, onnx.Attributes{"linear_before_reset": 1}},
	net.LSTM:  {"LSTM", []int{0, 3, 1, 2}, nil},
}

// recurrent writes recurrent layers, from [position, record, channel] on.
func (l *lowering) recurrent(o net.Operation, dims []int) value {
	k := cells[o.Kind]
	length := ""
	if o.Length != nil {
		positions := product(o.In.Shape().Sizes()) / o.Channels
		n := l.to.Node("Ceil", nil, l.perRecord(l.values[o.Length], nil))
		n = l.to.Node("Clip", nil, n, l.number(0), l.number(float64(positions)))
		length = l.to.Node("Cast", onnx.Attributes{"to": int(onnx.Int32)}, n)
	}
	positions := product(o.In.Shape().Sizes()) / o.Channels
	x := l.perRecord(l.values[o.In], []int{o.Channels, positions})
	x = l.to.Node("Transpose", onnx.Attributes{"perm": []int{2, 0, 1}}, x)
	in, directions := o.Channels, len(o.Cells[0])
	var y []string
	for i, pair := range o.Cells {
		set := onnx.Attributes{"hidden_size": o.Units, "direction": []string{"forward", "bidirectional"}[directions-1]}
		maps.Copy(set, k.set)
		w, r, b := l.cell(pair, k.blocks, o.Units, in)
		if i > 0 {
			x = l.to.Node("Transpose", onnx.Attributes{"perm": []int{0, 2, 1, 3}}, y[0])
			x = l.to.Node("Reshape", nil, x, l.ints([]int{positions, -1, in}))
		}
		y = l.to.Nodes(k.name, 2, set, x, w, r, b, length)
		in = directions * o.Units
	}
	if o.Sequence {
		all := l.to.Node("Transpose", onnx.Attributes{"perm": []int{2, 0, 1, 3}}, y[0])
		return l.in(value{name: all, dims: []int{positions, directions, o.Units}}, dims)
	}
	last := l.to.Node("Transpose", onnx.Attributes{"perm": []int{1, 0, 2}}, y[1])
	return l.in(value{name: last, dims: []int{directions, o.Units}}, dims)
}

// cell writes the weights of the cells of one layer: W, R and both biases, each with the
// directions first.
func (l *lowering) cell(pair []net.Cell, blocks []int, units, in int) (w, r, b string) {
	var input, state, bias []float64
	for _, c := range pair {
		for _, k := range blocks {
			input = append(input, l.values[c.Input].constant[k*units*in:(k+1)*units*in]...)
			state = append(state, l.values[c.State].constant[k*units*units:(k+1)*units*units]...)
		}
		both := make([]float64, 2*len(blocks)*units)
		for i, k := range blocks {
			if c.Bias != nil {
				copy(both[i*units:], l.values[c.Bias].constant[k*units:(k+1)*units])
			}
		}
		if c.Own != nil {
			copy(both[len(both)-units:], l.values[c.Own].constant)
		}
		bias = append(bias, both...)
	}
	name := l.values[pair[0].Input].of
	w = l.to.Floats(name, input, len(pair), len(blocks)*units, in)
	r = l.to.Floats(l.values[pair[0].State].of, state, len(pair), len(blocks)*units, units)
	return w, r, l.to.Floats(name+".biases", bias, len(pair), 2*len(blocks)*units)
}
