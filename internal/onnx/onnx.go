// Package onnx writes files in the format ONNX, which ONNX Runtime, browsers and phones
// run: a graph of operators with names, their constants, and the metadata. IR version 8,
// operator set 17. https://onnx.ai/onnx/repo-docs/IR.html and onnx.proto3.
package onnx

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strconv"
)

const (
	irVersion = 8
	opset     = 17
)

// Type is the type of the numbers of a tensor.
type Type int

// Types, as TensorProto.DataType numbers them.
const (
	Float Type = 1
	Int32 Type = 6
	Int64 Type = 7
	Bool  Type = 9
)

// Records is the name of the dimension of the records of a batch.
const Records = "records"

// A Model is a graph in the making, from its inputs to its outputs.
type Model struct {
	Name, Producer string
	Metadata       map[string]string

	inputs, outputs, nodes, constants []message

	taken map[string]bool // names of values
}

// NewModel is a graph without operators.
func NewModel(name, producer string) *Model {
	return &Model{Name: name, Producer: producer, Metadata: make(map[string]string), taken: make(map[string]bool)}
}

// fresh is a name that no value has yet.
func (m *Model) fresh(name string) string {
	free := name
	for i := 2; m.taken[free]; i++ {
		free = name + "_" + strconv.Itoa(i)
	}
	m.taken[free] = true
	return free
}

// Input adds an input of records with these dimensions. Its name must be new.
func (m *Model) Input(name string, t Type, dims ...int) {
	if m.taken[name] {
		panic("onnx: two values are called " + name)
	}
	m.taken[name] = true
	m.inputs = append(m.inputs, info(name, t, dims))
}

// Output makes a value an output of that name, or of one like it that is free, which is
// returned.
func (m *Model) Output(value, name string, t Type, dims ...int) string {
	name = m.fresh(name)
	m.nodes = append(m.nodes, node("Identity", []string{value}, []string{name}, nil))
	m.outputs = append(m.outputs, info(name, t, dims))
	return name
}

// Node adds an operator and returns the names of its outputs, one unless attributes ask
// for more. "" is an input that is left out.
func (m *Model) Node(operator string, attributes Attributes, inputs ...string) string {
	return m.Nodes(operator, 1, attributes, inputs...)[0]
}

// Nodes is Node with n outputs.
func (m *Model) Nodes(operator string, n int, attributes Attributes, inputs ...string) []string {
	outputs := make([]string, n)
	for i := range outputs {
		outputs[i] = m.fresh(operator)
	}
	m.nodes = append(m.nodes, node(operator, inputs, outputs, attributes))
	return outputs
}

// Floats adds a constant array, row-major, and returns its name. Finite numbers stay
// finite: those beyond the range of float32 become its ends.
func (m *Model) Floats(name string, values []float64, dims ...int) string {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		if !math.IsInf(v, 0) {
			v = min(max(v, -math.MaxFloat32), math.MaxFloat32)
		}
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
	}
	return m.constant(name, Float, raw, dims)
}

// Ints adds a constant array of whole numbers and returns its name.
func (m *Model) Ints(name string, values []int, dims ...int) string {
	raw := make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return m.constant(name, Int64, raw, dims)
}

func (m *Model) constant(name string, t Type, raw []byte, dims []int) string {
	name = m.fresh(name)
	var c message
	c.numbers(1, wide(dims))
	c.number(2, int64(t))
	c.text(8, name)
	c.bytes(9, raw)
	m.constants = append(m.constants, c)
	return name
}

// Attributes are settings of an operator: int, float64, string or []int.
type Attributes map[string]any

// Kinds of attributes, as AttributeProto.AttributeType numbers them.
const (
	kindFloat  = 1
	kindInt    = 2
	kindString = 3
	kindInts   = 7
)

func (a Attributes) messages() (list []message) {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		var m message
		m.text(1, name)
		switch x := a[name].(type) {
		case float64:
			m.float(2, float32(x))
			m.number(20, kindFloat)
		case int:
			m.number(3, int64(x))
			m.number(20, kindInt)
		case string:
			m.text(4, x)
			m.number(20, kindString)
		case []int:
			m.numbers(8, wide(x))
			m.number(20, kindInts)
		default:
			panic("onnx: no attribute of this type: " + name)
		}
		list = append(list, m)
	}
	return list
}

func node(operator string, inputs, outputs []string, attributes Attributes) message {
	var m message
	for _, name := range inputs {
		m.text(1, name)
	}
	for _, name := range outputs {
		m.text(2, name)
	}
	m.text(3, outputs[0])
	m.text(4, operator)
	for _, a := range attributes.messages() {
		m.bytes(5, a)
	}
	return m
}

// info is the type of an input or output; its first dimension are the records.
func info(name string, t Type, dims []int) message {
	var shape, records, tensor, kind, m message
	records.text(2, Records)
	shape.bytes(1, records)
	for _, d := range dims {
		var size message
		size.number(1, int64(d))
		shape.bytes(1, size)
	}
	tensor.number(1, int64(t))
	tensor.bytes(2, shape)
	kind.bytes(1, tensor)
	m.text(1, name)
	m.bytes(2, kind)
	return m
}

// Bytes is the file.
func (m *Model) Bytes() []byte {
	var graph message
	for _, part := range []struct {
		field int
		list  []message
	}{{1, m.nodes}, {5, m.constants}, {11, m.inputs}, {12, m.outputs}} {
		for _, x := range part.list {
			graph.bytes(part.field, x)
		}
	}
	graph.text(2, m.Name)
	var set, file message
	set.text(1, "")
	set.number(2, opset)
	file.number(1, irVersion)
	file.text(2, m.Producer)
	file.bytes(7, graph)
	file.bytes(8, set)
	for _, key := range slices.Sorted(maps.Keys(m.Metadata)) {
		var entry message
		entry.text(1, key)
		entry.text(2, m.Metadata[key])
		file.bytes(14, entry)
	}
	return file
}

func wide(list []int) []int64 {
	all := make([]int64, len(list))
	for i, x := range list {
		all[i] = int64(x)
	}
	return all
}
