package clipgroups

import (
	"testing"

	"d3p/internal/models/graph"
)

// A restricted tape has the gradient of its parameters, to the bit, and zeros elsewhere,
// from fewer instructions.
func TestRestrict(t *testing.T) {
	b := graph.NewBuilder()
	d, h := graph.Dim{Name: "d", Size: 2}, graph.Dim{Name: "h", Size: 3}
	hidden := b.Tanh(b.Add(b.MatMul(b.Columns(0, d), b.Param("w", graph.Shape{d, h})), b.Param("c", graph.Shape{h})))
	eta := b.Add(b.Param("a", nil), b.MatMul(hidden, b.Param("v", graph.Shape{h})))
	tape, err := graph.Compile(b, b.Sub(b.Mul(b.Column(2), eta), b.Softplus(eta)), nil, graph.Options{Columns: 3})
	if err != nil {
		t.Fatal(err)
	}
	theta := make([]float64, tape.P)
	for i := range theta {
		theta[i] = 0.1*float64(i) - 0.4
	}
	row := []float64{0.5, -1.5, 1}
	gradient := func(t *graph.Tape) []float64 {
		m := graph.NewMachine(t, 1)
		m.Globals(theta, nil)
		m.Records(row, 3, 1, nil)
		g := make([]float64, t.P)
		m.Gradient(0, g)
		return g
	}
	whole := gradient(tape)
	for _, p := range tape.Params {
		in := make([]bool, tape.P)
		for i := range p.Shape.Size() {
			in[p.Offset+i] = true
		}
		part, err := restrict(tape, in)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range gradient(part) {
			want := 0.0
			if in[i] {
				want = whole[i]
			}
			if x != want {
				t.Errorf("%s: element %d is %v, want %v", p.Name, i, x, want)
			}
		}
		if p.Name == "a" && part.Gradient >= tape.Gradient {
			t.Errorf("%s needs %d instructions of %d", p.Name, part.Gradient, tape.Gradient)
		}
	}
	for i, moved := range Moved(tape) {
		if !moved {
			t.Errorf("element %d is not moved", i)
		}
	}
	half := make([]bool, tape.P)
	half[tape.Params[0].Offset] = true
	if _, err := restrict(tape, half); err == nil {
		t.Error("a part of a gradient was cut")
	}
}
