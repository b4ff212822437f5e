package forward

import (
	"fmt"
	"math"
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/models/net"
	"d3p/internal/onnx"
)

// value is a node in the file: a value of each record, with these dims after the records,
// or a constant, whose numbers are written where a node reads them.
type value struct {
	name     string
	dims     []int
	constant []float64 // nil: of a record
	of       string    // the constant in the model, for its name
}

func (v value) size() int { return product(v.dims) }

// shaped is a value in other dims.
type shaped struct{ name, dims string }

// lowering writes a graph, each node once.
type lowering struct {
	to      *onnx.Model
	values  map[*graph.Node]value
	shapes  map[shaped]string
	layers  map[*graph.Node]net.Operation // by their output
	columns []place                       // where each encoded column is

	rejected string // true for a record that lacks a value; "" if none can
	batch    string // their number
}

// evaluate computes everything that depends on parameters alone.
func (l *lowering) evaluate(b *graph.Builder, wanted []response, theta []float64) error {
	var list []*graph.Node
	seen := make(map[*graph.Node]bool)
	var walk func(n *graph.Node)
	walk = func(n *graph.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		switch {
		case n.Op() == graph.OpConst:
			l.values[n] = value{constant: n.Detail().Values, dims: n.Shape().Sizes(), of: "constant"}
		case n.Stage()&graph.StageData == 0:
			list = append(list, n)
		default:
			for _, a := range l.reads(n) {
				walk(a)
			}
		}
	}
	for _, r := range wanted {
		walk(r.node)
	}
	tape, err := graph.Compile(b, nil, list, graph.Options{})
	if err != nil {
		return err
	}
	machine := graph.NewMachine(tape, 1)
	machine.Globals(theta, nil)
	for i, n := range list {
		l.values[n] = value{constant: slices.Clone(machine.Output(i)), dims: n.Shape().Sizes(), of: origin(n)}
	}
	return nil
}

// origin is the name of the parameter that a node is made from.
func origin(n *graph.Node) string {
	for len(n.Args()) > 0 {
		n = n.Args()[0]
	}
	if n.Name() == "" {
		return "constant"
	}
	return n.Name()
}

// lower writes a node after its arguments.
func (l *lowering) lower(n *graph.Node) (value, error) {
	if v, ok := l.values[n]; ok {
		return v, nil
	}
	var args []value
	for _, a := range l.reads(n) {
		v, err := l.lower(a)
		if err != nil {
			return value{}, err
		}
		args = append(args, v)
	}
	var v value
	var err error
	if o, ok := l.layers[n]; ok {
		v = l.whole(o, n.Shape().Sizes())
	} else {
		v, err = l.operation(n, args)
	}
	l.values[n] = v
	return v, err
}

// reads lists the nodes that a node is written from.
func (l *lowering) reads(n *graph.Node) []*graph.Node {
	if o, ok := l.layers[n]; ok {
		return operands(o)
	}
	return n.Args()
}

// operation writes a node of its arguments.
func (l *lowering) operation(n *graph.Node, args []value) (value, error) {
	d := n.Detail()
	made := value{dims: n.Shape().Sizes()}
	switch n.Op() {
	case graph.OpColumn:
		return l.read(d.Offset, n.Size(), made.dims), nil
	case graph.OpView:
		return l.view(args[0], made.dims, d.Index), nil
	case graph.OpStop:
		return args[0], nil
	case graph.OpStack:
		return l.stack(args, made.dims), nil
	case graph.OpSum, graph.OpMaxReduce:
		return l.reduce(n, args[0])
	case graph.OpMatVec:
		return l.matrix(args[0], args[1], d, made.dims), nil
	case graph.OpOuter:
		x := l.perRecord(args[0], []int{d.Rows, d.Width})
		y := l.perRecord(args[1], []int{d.Cols, d.Width})
		y = l.to.Node("Transpose", onnx.Attributes{"perm": []int{0, 2, 1}}, y)
		return l.in(value{name: l.to.Node("MatMul", nil, x, y), dims: []int{d.Rows, d.Cols}}, made.dims), nil
	case graph.OpGather:
		return l.gather(args[0], args[1], d, made.dims), nil
	case graph.OpAux:
		return value{}, fmt.Errorf("%s is drawn at random for each row, and a file of ONNX draws nothing", n.Name())
	}
	write, ok := operators[n.Op()]
	if !ok {
		return value{}, fmt.Errorf("ONNX has no function %v (d3p predict computes it)", n.Op())
	}
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = l.operand(a, made.dims)
	}
	made.name = write(l, names)
	return made, nil
}

// operand is an argument of an element-wise operation with these dims: of that size, or
// one number that counts for all.
func (l *lowering) operand(v value, dims []int) string {
	switch {
	case len(v.constant) == 1:
		return l.number(v.constant[0])
	case v.constant != nil:
		return l.floats(narrowed(v, dims))
	case v.size() == 1 && product(dims) != 1:
		dims = ones(len(dims))
	}
	return l.reshaped(v, dims)
}

// perRecord is a value with these dims for every record, also for a constant.
func (l *lowering) perRecord(v value, dims []int) string {
	if v.constant == nil {
		return l.reshaped(v, dims)
	}
	all := l.to.Node("Concat", onnx.Attributes{"axis": 0}, l.batch, l.ints(dims))
	return l.to.Node("Expand", nil, l.floats(v, dims), all)
}

// in is a value in other dims of the same size.
func (l *lowering) in(v value, dims []int) value {
	if v.constant == nil {
		v.name = l.reshaped(v, dims)
	}
	v.dims = dims
	return v
}

// reshaped is the name of a record's value in dims of the same size.
func (l *lowering) reshaped(v value, dims []int) string {
	if slices.Equal(v.dims, dims) {
		return v.name
	}
	key := shaped{v.name, fmt.Sprint(dims)}
	if name, ok := l.shapes[key]; ok {
		return name
	}
	name := l.to.Node("Reshape", nil, v.name, l.ints(append([]int{-1}, dims...)))
	l.shapes[key] = name
	l.shapes[shaped{name, fmt.Sprint(v.dims)}] = v.name
	return name
}

// floats writes a constant in these dims, once.
func (l *lowering) floats(v value, dims []int) string {
	key := shaped{fmt.Sprintf("%s %p", v.of, &v.constant[0]), fmt.Sprint(dims)}
	if name, ok := l.shapes[key]; ok {
		return name
	}
	l.shapes[key] = l.to.Floats(v.of, v.constant, dims...)
	return l.shapes[key]
}

// narrowed is a constant reduced to one element along axes with equal elements, as
// element-wise operations accept it.
func narrowed(v value, dims []int) (value, []int) {
	kept, inner := slices.Clone(dims), 1
	list := v.constant
	for i := len(dims) - 1; i >= 0; i-- {
		var first []float64
		same := dims[i] > 1
		for at := 0; same && at < len(list); at += inner * dims[i] {
			for j := inner; same && j < inner*dims[i]; j++ {
				same = list[at+j] == list[at+j-inner]
			}
			first = append(first, list[at:at+inner]...)
		}
		if same {
			list, kept[i] = first, 1
		}
		inner *= kept[i]
	}
	if len(list) < len(v.constant) {
		v = value{constant: list, of: v.of}
	}
	return v, kept
}

// number writes a number, once.
func (l *lowering) number(x float64) string {
	key := shaped{"number", fmt.Sprint(x)}
	if name, ok := l.shapes[key]; ok {
		return name
	}
	l.shapes[key] = l.to.Floats("number", []float64{x})
	return l.shapes[key]
}

func (l *lowering) nan() string { return l.number(math.NaN()) }

// ints writes whole numbers, once.
func (l *lowering) ints(list []int) string {
	key := shaped{"ints", fmt.Sprint(list)}
	if name, ok := l.shapes[key]; ok {
		return name
	}
	l.shapes[key] = l.to.Ints("ints", list, len(list))
	return l.shapes[key]
}

func product(list []int) int {
	n := 1
	for _, x := range list {
		n *= x
	}
	return n
}

func ones(n int) []int { return slices.Repeat([]int{1}, n) }
