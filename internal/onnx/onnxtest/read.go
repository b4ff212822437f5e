// Package onnxtest reads files of ONNX back and computes them in float64, one operator
// after the other: the reference that exported models are tested against. It shares no
// code with package onnx.
package onnxtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"
)

// Tensor is an array, row-major.
type Tensor struct {
	Dims   []int
	Values []float64
}

// Node is an operator with its settings: float64, int, string or []int.
type Node struct {
	Operator        string
	Inputs, Outputs []string
	Attributes      map[string]any
}

// Model is a file.
type Model struct {
	IR, Opset       int
	Name            string
	Inputs, Outputs []string
	Types           map[string]int   // of inputs and outputs, as the format numbers them
	Shapes          map[string][]int // of inputs and outputs; -1 where the size has a name
	Nodes           []Node
	Constants       map[string]Tensor
	Metadata        map[string]string
}

// field is one field of a message: a number, or bytes.
type field struct {
	id     int
	number uint64
	bytes  []byte
}

// fields takes a message apart.
func fields(tb testing.TB, raw []byte) (list []field) {
	tb.Helper()
	for len(raw) > 0 {
		key, n := binary.Uvarint(raw)
		if n <= 0 {
			tb.Fatal("onnxtest: no key")
		}
		raw = raw[n:]
		f := field{id: int(key >> 3)}
		switch key & 7 {
		case 0:
			f.number, n = binary.Uvarint(raw)
		case 2:
			size, m := binary.Uvarint(raw)
			if m <= 0 || size > uint64(len(raw)-m) {
				tb.Fatalf("onnxtest: field %d is longer than its message", f.id)
			}
			f.bytes, n = raw[m:m+int(size)], m+int(size)
		case 5:
			f.number, n = uint64(binary.LittleEndian.Uint32(raw)), 4
		default:
			tb.Fatalf("onnxtest: field %d has wire type %d", f.id, key&7)
		}
		if n <= 0 {
			tb.Fatalf("onnxtest: field %d is cut off", f.id)
		}
		list, raw = append(list, f), raw[n:]
	}
	return list
}

// packed are whole numbers side by side.
func packed(raw []byte) []int {
	list := []int{}
	for len(raw) > 0 {
		x, n := binary.Uvarint(raw)
		list, raw = append(list, int(x)), raw[n:]
	}
	return list
}

// Read reads a file.
func Read(tb testing.TB, raw []byte) *Model {
	tb.Helper()
	m := &Model{Types: map[string]int{}, Shapes: map[string][]int{}, Constants: map[string]Tensor{}, Metadata: map[string]string{}}
	for _, f := range fields(tb, raw) {
		switch f.id {
		case 1:
			m.IR = int(f.number)
		case 7:
			m.graph(tb, f.bytes)
		case 8:
			for _, g := range fields(tb, f.bytes) {
				if g.id == 2 {
					m.Opset = int(g.number)
				}
			}
		case 14:
			entry := fields(tb, f.bytes)
			m.Metadata[string(entry[0].bytes)] = string(entry[1].bytes)
		}
	}
	return m
}

func (m *Model) graph(tb testing.TB, raw []byte) {
	for _, f := range fields(tb, raw) {
		switch f.id {
		case 1:
			m.Nodes = append(m.Nodes, node(tb, f.bytes))
		case 2:
			m.Name = string(f.bytes)
		case 5:
			name, t := constant(tb, f.bytes)
			if _, twice := m.Constants[name]; twice {
				tb.Fatalf("onnxtest: two constants %s", name)
			}
			m.Constants[name] = t
		case 11:
			m.Inputs = append(m.Inputs, m.info(tb, f.bytes))
		case 12:
			m.Outputs = append(m.Outputs, m.info(tb, f.bytes))
		}
	}
}

func node(tb testing.TB, raw []byte) Node {
	n := Node{Attributes: map[string]any{}}
	for _, f := range fields(tb, raw) {
		switch f.id {
		case 1:
			n.Inputs = append(n.Inputs, string(f.bytes))
		case 2:
			n.Outputs = append(n.Outputs, string(f.bytes))
		case 4:
			n.Operator = string(f.bytes)
		case 5:
			name, kind := "", 0
			var value [21]field
			for _, g := range fields(tb, f.bytes) {
				value[g.id] = g
			}
			name, kind = string(value[1].bytes), int(value[20].number)
			switch kind {
			case 1:
				n.Attributes[name] = float64(math.Float32frombits(uint32(value[2].number)))
			case 2:
				n.Attributes[name] = int(value[3].number)
			case 3:
				n.Attributes[name] = string(value[4].bytes)
			case 7:
				n.Attributes[name] = packed(value[8].bytes)
			default:
				tb.Fatalf("onnxtest: attribute %s has kind %d", name, kind)
			}
		}
	}
	return n
}

func constant(tb testing.TB, raw []byte) (name string, t Tensor) {
	kind := 0
	var numbers []byte
	for _, f := range fields(tb, raw) {
		switch f.id {
		case 1:
			t.Dims = packed(f.bytes)
		case 2:
			kind = int(f.number)
		case 8:
			name = string(f.bytes)
		case 9:
			numbers = f.bytes
		}
	}
	for len(numbers) > 0 {
		switch kind {
		case 1:
			t.Values = append(t.Values, float64(math.Float32frombits(binary.LittleEndian.Uint32(numbers))))
			numbers = numbers[4:]
		case 7:
			t.Values = append(t.Values, float64(int64(binary.LittleEndian.Uint64(numbers))))
			numbers = numbers[8:]
		default:
			tb.Fatalf("onnxtest: constant %s has type %d", name, kind)
		}
	}
	if len(t.Values) != size(t.Dims) {
		tb.Fatalf("onnxtest: constant %s has %d numbers for %v", name, len(t.Values), t.Dims)
	}
	return name, t
}

// info reads the type of an input or output and returns its name.
func (m *Model) info(tb testing.TB, raw []byte) string {
	all := fields(tb, raw)
	name := string(all[0].bytes)
	tensor := fields(tb, fields(tb, all[1].bytes)[0].bytes)
	m.Types[name] = int(tensor[0].number)
	for _, d := range fields(tb, tensor[1].bytes) {
		size := -1
		if of := fields(tb, d.bytes)[0]; of.id == 1 {
			size = int(of.number)
		}
		m.Shapes[name] = append(m.Shapes[name], size)
	}
	return name
}

func size(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// Operators counts the operators of the model by name.
func (m *Model) Operators() map[string]int {
	count := make(map[string]int)
	for _, n := range m.Nodes {
		count[n.Operator]++
	}
	return count
}

// String is a short form of a tensor.
func (t Tensor) String() string { return fmt.Sprint(t.Dims, t.Values) }
