package onnx_test

import (
	"math"
	"reflect"
	"testing"

	"d3p/internal/onnx"
	"d3p/internal/onnx/onnxtest"
)

// A reader that shares no code finds what was written: types, shapes, every kind of
// attribute, numbers beyond float32, negative ones, names made distinct.
func TestWrite(t *testing.T) {
	m := onnx.NewModel("net", "d3p test")
	m.Metadata["key"] = "ε = 1"
	m.Input("x", onnx.Float, 2, 3)
	w := m.Floats("x", []float64{1.5, -math.MaxFloat64, math.Inf(1)}, 3)
	k := m.Ints("k", []int{-1, 300}, 2)
	y := m.Node("First", onnx.Attributes{"a": 0.25, "b": -7, "c": "word", "d": []int{1, -2, 1000}}, "x", "", w)
	two := m.Nodes("First", 2, nil, y, k)
	if got := m.Output(two[1], "x", onnx.Int64); got != "x_3" {
		t.Errorf("the output is called %s", got)
	}
	got := onnxtest.Read(t, m.Bytes())
	want := &onnxtest.Model{
		IR: 8, Opset: 17, Name: "net", Inputs: []string{"x"}, Outputs: []string{"x_3"},
		Types:  map[string]int{"x": 1, "x_3": 7},
		Shapes: map[string][]int{"x": {-1, 2, 3}, "x_3": {-1}},
		Nodes: []onnxtest.Node{
			{Operator: "First", Inputs: []string{"x", "", "x_2"}, Outputs: []string{"First"}, Attributes: map[string]any{"a": 0.25, "b": -7, "c": "word", "d": []int{1, -2, 1000}}},
			{Operator: "First", Inputs: []string{"First", "k"}, Outputs: []string{"First_2", "First_3"}, Attributes: map[string]any{}},
			{Operator: "Identity", Inputs: []string{"First_3"}, Outputs: []string{"x_3"}, Attributes: map[string]any{}},
		},
		Constants: map[string]onnxtest.Tensor{
			"x_2": {Dims: []int{3}, Values: []float64{1.5, -math.MaxFloat32, math.Inf(1)}},
			"k":   {Dims: []int{2}, Values: []float64{-1, 300}},
		},
		Metadata: map[string]string{"key": "ε = 1"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
