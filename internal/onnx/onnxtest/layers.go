package onnxtest

import (
	"math"
	"slices"
	"testing"
)

// frame is a window that moves over positions: at place p it sees the positions
// p·stride − low + t, t < taps.
type frame struct{ taps, strides, pads []int }

// at is the position that tap t of place p sees among positions of a size; false outside.
func (f frame) at(p, t, size []int) ([]int, bool) {
	seen := make([]int, len(f.taps))
	for i := range seen {
		if seen[i] = p[i]*f.strides[i] - f.pads[i] + t[i]; seen[i] < 0 || seen[i] >= size[i] {
			return nil, false
		}
	}
	return seen, true
}

// every calls f at every position.
func every(dims []int, f func(at []int)) { made(dims, func(at []int) float64 { f(at); return 0 }) }

// windows computes filters and pools by their definition.
func (n Node) windows(tb testing.TB, x []Tensor) Tensor {
	if n.Attributes["kernel_shape"] == nil {
		tb.Fatalf("onnxtest: no operator %s", n.Operator)
	}
	f := frame{n.Attributes["kernel_shape"].([]int), n.Attributes["strides"].([]int), n.Attributes["pads"].([]int)}
	space := x[0].Dims[2:]
	out := make([]int, len(space))
	for i := range out {
		both := f.pads[i] + f.pads[len(out)+i]
		out[i] = (space[i]+both-f.taps[i])/f.strides[i] + 1
		if n.Operator == "ConvTranspose" {
			out[i] = (space[i]-1)*f.strides[i] + f.taps[i] - both + n.Attributes["output_padding"].([]int)[i]
		}
	}
	switch n.Operator {
	case "Conv":
		return f.filtered(x[0], x[1], out)
	case "ConvTranspose":
		return f.enlarged(x[0], x[1], out)
	case "MaxPool":
		return f.pooled(x[0], out, math.Inf(-1), math.Max, 1)
	case "AveragePool":
		if n.Attributes["count_include_pad"] == 1 {
			return f.pooled(x[0], out, 0, func(a, b float64) float64 { return a + b }, float64(size(f.taps)))
		}
	}
	tb.Fatalf("onnxtest: no operator %s of %v", n.Operator, n.Attributes)
	return Tensor{}
}

func (f frame) filtered(x, w Tensor, out []int) Tensor {
	return made(slices.Concat([]int{x.Dims[0], w.Dims[0]}, out), func(place []int) (sum float64) {
		every(w.Dims[1:], func(tap []int) {
			if seen, ok := f.at(place[2:], tap[1:], x.Dims[2:]); ok {
				sum += w.at(slices.Concat(place[1:2], tap)) * x.at(slices.Concat(place[:1], tap[:1], seen))
			}
		})
		return sum
	})
}

func (f frame) enlarged(x, w Tensor, out []int) Tensor {
	y := made(slices.Concat([]int{x.Dims[0], w.Dims[1]}, out), func([]int) float64 { return 0 })
	every(slices.Concat([]int{x.Dims[0], w.Dims[1]}, x.Dims[1:]), func(k []int) {
		every(f.taps, func(tap []int) {
			if seen, ok := f.at(k[3:], tap, out); ok {
				place := 0
				for i, j := range slices.Concat(k[:2], seen) {
					place = place*y.Dims[i] + j
				}
				y.Values[place] += w.at(slices.Concat(k[2:3], k[1:2], tap)) * x.at(slices.Concat(k[:1], k[2:]))
			}
		})
	})
	return y
}

func (f frame) pooled(x Tensor, out []int, start float64, add func(a, b float64) float64, by float64) Tensor {
	return made(slices.Concat(x.Dims[:2], out), func(place []int) float64 {
		total := start
		every(f.taps, func(tap []int) {
			if seen, ok := f.at(place[2:], tap, x.Dims[2:]); ok {
				total = add(total, x.at(slices.Concat(place[:2], seen)))
			}
		})
		return total / by
	})
}

// recurrent computes a layer of cells: all outputs, [position, direction, record, unit],
// and the last, [direction, record, unit]. It stops at each record's length; beyond are
// zeros.
func (n Node) recurrent(tb testing.TB, x []Tensor) []Tensor {
	units, directions := n.Attributes["hidden_size"].(int), x[1].Dims[0]
	positions, records := x[0].Dims[0], x[0].Dims[1]
	all := Tensor{[]int{positions, directions, records, units}, make([]float64, positions*directions*records*units)}
	last := Tensor{[]int{directions, records, units}, make([]float64, directions*records*units)}
	if (n.Attributes["direction"] == "bidirectional") != (directions == 2) || n.Operator == "GRU" && n.Attributes["linear_before_reset"] != 1 {
		tb.Fatalf("onnxtest: %s %v has %d directions", n.Operator, n.Attributes, directions)
	}
	for d := range directions {
		for r := range records {
			length := positions
			if len(x[4].Values) > 0 {
				length = int(x[4].Values[r])
			}
			h, c := make([]float64, units), make([]float64, units)
			for step := range length {
				t := step
				if d == 1 {
					t = length - 1 - step
				}
				h, c = n.cell(x, d, r, t, h, c)
				copy(all.Values[((t*directions+d)*records+r)*units:], h)
			}
			copy(last.Values[(d*records+r)*units:], h)
		}
	}
	return []Tensor{all, last}
}

// cell is the next state of a cell.
func (n Node) cell(x []Tensor, d, r, t int, h, c []float64) (next, memory []float64) {
	units := len(h)
	blocks := x[1].Dims[1] / units
	// part is the product with the input or with the state, and its bias.
	part := func(k, u int, state bool) float64 {
		row := k*units + u
		if state {
			sum := x[3].at([]int{d, (blocks+k)*units + u})
			for i, v := range h {
				sum += x[2].at([]int{d, row, i}) * v
			}
			return sum
		}
		sum := x[3].at([]int{d, row})
		for i := range x[1].Dims[2] {
			sum += x[1].at([]int{d, row, i}) * x[0].at([]int{t, r, i})
		}
		return sum
	}
	gate := func(k, u int) float64 { return part(k, u, false) + part(k, u, true) }
	sigmoid := unary["Sigmoid"]
	next, memory = make([]float64, units), make([]float64, units)
	for u := range units {
		switch n.Operator {
		case "RNN":
			next[u] = math.Tanh(gate(0, u))
		case "GRU": // z, r, h
			z := sigmoid(gate(0, u))
			candidate := math.Tanh(part(2, u, false) + sigmoid(gate(1, u))*part(2, u, true))
			next[u] = (1-z)*candidate + z*h[u]
		case "LSTM": // i, o, f, c
			memory[u] = sigmoid(gate(2, u))*c[u] + sigmoid(gate(0, u))*math.Tanh(gate(3, u))
			next[u] = sigmoid(gate(1, u)) * math.Tanh(memory[u])
		}
	}
	return next, memory
}
