package onnxtest

import (
	"maps"
	"math"
	"slices"
	"testing"
)

// Run computes the outputs at inputs, in order of the nodes.
func (m *Model) Run(tb testing.TB, inputs map[string]Tensor) map[string]Tensor {
	tb.Helper()
	values := make(map[string]Tensor)
	maps.Copy(values, m.Constants)
	for _, name := range m.Inputs {
		t, ok := inputs[name]
		if !ok || len(t.Dims) != len(m.Shapes[name]) || len(t.Values) != size(t.Dims) {
			tb.Fatalf("onnxtest: input %s has dims %v, want %v", name, t.Dims, m.Shapes[name])
		}
		values[name] = t
	}
	for _, n := range m.Nodes {
		var args []Tensor
		for _, name := range n.Inputs {
			t, ok := values[name]
			if !ok && name != "" {
				tb.Fatalf("onnxtest: %s reads %s, which no earlier node makes", n.Operator, name)
			}
			args = append(args, t)
		}
		results := n.run(tb, args)
		for i, name := range n.Outputs {
			values[name] = results[i]
		}
	}
	out := make(map[string]Tensor)
	for _, name := range m.Outputs {
		t := values[name]
		if !slices.Equal(t.Dims[1:], m.Shapes[name][1:]) {
			tb.Fatalf("onnxtest: output %s has dims %v, want %v", name, t.Dims, m.Shapes[name])
		}
		out[name] = t
	}
	return out
}

// truth is a condition as a number.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// unary, binary and ternary are the element-wise operators.
var unary = map[string]func(x float64) float64{
	"Neg": func(x float64) float64 { return -x }, "Exp": math.Exp, "Log": math.Log, "Sqrt": math.Sqrt, "Abs": math.Abs,
	"Reciprocal": func(x float64) float64 { return 1 / x }, "Sigmoid": func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
	"Softplus": func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }, "Tanh": math.Tanh,
	"Relu": func(x float64) float64 { return max(x, 0) }, "Erf": math.Erf, "Floor": math.Floor, "Ceil": math.Ceil, "Sin": math.Sin, "Cos": math.Cos,
	"IsNaN": func(x float64) float64 { return truth(x != x) }, "Not": func(x float64) float64 { return 1 - x },
	"Identity": func(x float64) float64 { return x },
}

var pairs = map[string]func(x, y float64) float64{
	"Add": func(x, y float64) float64 { return x + y }, "Sub": func(x, y float64) float64 { return x - y },
	"Mul": func(x, y float64) float64 { return x * y }, "Div": func(x, y float64) float64 { return x / y },
	"Pow": math.Pow, "Min": math.Min, "Max": math.Max,
	"Less": func(x, y float64) float64 { return truth(x < y) }, "Greater": func(x, y float64) float64 { return truth(x > y) },
	"Equal": func(x, y float64) float64 { return truth(x == y) }, "Or": func(x, y float64) float64 { return max(x, y) },
}

var ternary = map[string]func(x, y, z float64) float64{
	"Where": func(x, y, z float64) float64 {
		if x != 0 {
			return y
		}
		return z
	},
	"Clip": func(x, low, high float64) float64 { return min(max(x, low), high) },
}

// run computes the outputs of an operator.
func (n Node) run(tb testing.TB, x []Tensor) []Tensor {
	switch n.Operator {
	case "RNN", "GRU", "LSTM":
		return n.recurrent(tb, x)
	}
	return []Tensor{n.one(tb, x)}
}

// one computes an operator with one output.
func (n Node) one(tb testing.TB, x []Tensor) Tensor {
	if f, ok := unary[n.Operator]; ok {
		return each(x[:1], func(v []float64) float64 { return f(v[0]) })
	}
	if f, ok := pairs[n.Operator]; ok {
		return each(x[:2], func(v []float64) float64 { return f(v[0], v[1]) })
	}
	if f, ok := ternary[n.Operator]; ok {
		return each(x[:3], func(v []float64) float64 { return f(v[0], v[1], v[2]) })
	}
	switch n.Operator {
	case "Gemm", "MatMul":
		return matmul(x[0], x[1], n.Attributes["transB"] == 1)
	case "ReduceSum":
		return reduce(x[0], whole(x[1]), 0, func(a, b float64) float64 { return a + b })
	case "ReduceMax":
		return reduce(x[0], n.Attributes["axes"].([]int), math.Inf(-1), math.Max)
	}
	return n.layout(tb, x)
}

// whole are the numbers of a tensor of whole numbers.
func whole(t Tensor) (list []int) {
	for _, v := range t.Values {
		list = append(list, int(v))
	}
	return list
}

// layout is an operator that moves numbers.
func (n Node) layout(tb testing.TB, x []Tensor) Tensor {
	switch n.Operator {
	case "Cast":
		return each(x, func(v []float64) float64 { return cast(n.Attributes["to"], v[0]) })
	case "Shape":
		t := Tensor{Dims: []int{len(x[0].Dims)}}
		for _, d := range x[0].Dims {
			t.Values = append(t.Values, float64(d))
		}
		return t
	case "Reshape":
		dims := whole(x[1])
		for i, d := range dims {
			if d == -1 {
				dims[i] = len(x[0].Values) / -size(dims)
			}
		}
		return Tensor{dims, x[0].Values}
	case "Expand":
		return each([]Tensor{x[0], {whole(x[1]), make([]float64, size(whole(x[1])))}}, func(v []float64) float64 { return v[0] })
	case "Transpose":
		perm := n.Attributes["perm"].([]int)
		dims := make([]int, len(perm))
		for i, p := range perm {
			dims[i] = x[0].Dims[p]
		}
		return made(dims, func(at []int) float64 {
			from := make([]int, len(at))
			for i, p := range perm {
				from[p] = at[i]
			}
			return x[0].at(from)
		})
	case "Slice":
		return slice(x)
	case "Concat":
		return concat(n.Attributes["axis"].(int), x)
	case "Gather":
		axis := n.Attributes["axis"].(int)
		k := len(x[1].Dims)
		return made(slices.Concat(x[0].Dims[:axis], x[1].Dims, x[0].Dims[axis+1:]), func(at []int) float64 {
			return x[0].at(slices.Concat(at[:axis], []int{int(x[1].at(at[axis : axis+k]))}, at[axis+k:]))
		})
	case "ScatterElements":
		t := Tensor{x[0].Dims, slices.Clone(x[0].Values)}
		width := len(x[1].Values) / x[1].Dims[0]
		for i, v := range x[2].Values {
			t.Values[i/width*t.Dims[1]+int(x[1].Values[i])] += v
		}
		return t
	}
	return n.windows(tb, x)
}

// cast is a number in another type.
func cast(to any, x float64) float64 {
	switch to {
	case 9:
		return truth(x != 0)
	case 7:
		return math.Trunc(x)
	}
	return x
}

// slice is a range of one axis, the first unless stated.
func slice(x []Tensor) Tensor {
	axis, low := 0, whole(x[1])[0]
	if len(x) > 3 {
		axis = whole(x[3])[0]
	}
	dims := slices.Clone(x[0].Dims)
	dims[axis] = min(whole(x[2])[0], dims[axis]) - low
	return made(dims, func(at []int) float64 {
		from := slices.Clone(at)
		from[axis] += low
		return x[0].at(from)
	})
}

// at is an element.
func (t Tensor) at(at []int) float64 {
	k := 0
	for i, d := range t.Dims {
		if at[i] < 0 || at[i] >= d {
			panic("onnxtest: an index is out of range")
		}
		k = k*d + at[i]
	}
	return t.Values[k]
}

// made is an array of the elements that f has at each position.
func made(dims []int, f func(at []int) float64) Tensor {
	t := Tensor{dims, make([]float64, size(dims))}
	at := make([]int, len(dims))
	for k := range t.Values {
		rest := k
		for i := len(dims) - 1; i >= 0; i-- {
			at[i], rest = rest%dims[i], rest/dims[i]
		}
		t.Values[k] = f(at)
	}
	return t
}

// each applies f to elements of arrays that are broadcast from the last dim.
func each(x []Tensor, f func(v []float64) float64) Tensor {
	var dims []int
	for _, t := range x {
		for len(dims) < len(t.Dims) {
			dims = append([]int{1}, dims...)
		}
		for i, d := range t.Dims {
			if k := len(dims) - len(t.Dims) + i; dims[k] == 1 {
				dims[k] = d
			} else if d != 1 && d != dims[k] {
				panic("onnxtest: dims do not fit")
			}
		}
	}
	v := make([]float64, len(x))
	return made(dims, func(at []int) float64 {
		for j, t := range x {
			own := slices.Clone(at[len(at)-len(t.Dims):])
			for i, d := range t.Dims {
				own[i] %= d
			}
			v[j] = t.at(own)
		}
		return f(v)
	})
}

func concat(axis int, x []Tensor) Tensor {
	dims := slices.Clone(x[0].Dims)
	for _, t := range x[1:] {
		dims[axis] += t.Dims[axis]
	}
	return made(dims, func(at []int) float64 {
		own := slices.Clone(at)
		for _, t := range x {
			if own[axis] < t.Dims[axis] {
				return t.at(own)
			}
			own[axis] -= t.Dims[axis]
		}
		panic("onnxtest: beyond the parts")
	})
}

// matmul multiplies the last two dims; a matrix without records is the same for all.
func matmul(x, y Tensor, turned bool) Tensor {
	rows, inner := x.Dims[len(x.Dims)-2], x.Dims[len(x.Dims)-1]
	cols := y.Dims[len(y.Dims)-1]
	if turned {
		cols = y.Dims[0]
	}
	front := x.Dims[:len(x.Dims)-2]
	if len(y.Dims) > len(x.Dims) {
		front = y.Dims[:len(y.Dims)-2]
	}
	of := func(t Tensor, at []int, r, c int) float64 {
		return t.at(slices.Concat(at[:len(t.Dims)-2], []int{r, c}))
	}
	return made(slices.Concat(front, []int{rows, cols}), func(at []int) float64 {
		sum, r, c := 0.0, at[len(at)-2], at[len(at)-1]
		for k := range inner {
			if turned {
				sum += of(x, at, r, k) * of(y, at, c, k)
			} else {
				sum += of(x, at, r, k) * of(y, at, k, c)
			}
		}
		return sum
	})
}

// reduce drops axes.
func reduce(x Tensor, axes []int, start float64, f func(a, b float64) float64) Tensor {
	var dims []int
	for i, d := range x.Dims {
		if !slices.Contains(axes, i) {
			dims = append(dims, d)
		}
	}
	out := made(dims, func([]int) float64 { return start })
	made(x.Dims, func(at []int) float64 {
		k := 0
		for i, d := range x.Dims {
			if !slices.Contains(axes, i) {
				k = k*d + at[i]
			}
		}
		out.Values[k] = f(out.Values[k], x.at(at))
		return 0
	})
	return out
}
