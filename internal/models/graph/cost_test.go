package graph

import "testing"

// TestCost counts by hand: a filter of 2 taps and 3 outputs at 4 places of 3
// columns, its sum over places times a vector.
func TestCost(t *testing.T) {
	b := NewBuilder()
	w := b.Param("w", Shape{{"f", 3}, {"tap", 2}})
	y := b.MatMul(w, b.Take(b.Columns(0, Dim{"k", 3}), Shape{{"t", 2}, {"place", 4}}, []int32{0, 1, 2, 0, 1, 1, 2, 0}))
	out := b.MatMul(b.Param("v", Shape{{"f", 3}}), b.Sum(b.Tanh(y), "place"))
	tape, err := Compile(b, out, nil, Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	c := tape.Cost()
	// the filter forward, and nothing backward: the adjoint of the output is 1;
	// v is a matrix of one row, whose gradient is a vector
	if want := 2 * 3 * 2 * 4; c.Products != want {
		t.Errorf("%d operations of products, want %d", c.Products, want)
	}
	// the elements of the filter and their squares; of v, 3 numbers and the 1
	if want := 2*6*(4+1) + 2*(3+1); c.Norms != want {
		t.Errorf("%d operations of norms, want %d", c.Norms, want)
	}
	if want := 2*6*4 + 2*3; c.Sum != want || c.Elements != 6 {
		t.Errorf("%d operations of the sum, want %d; %d elements", c.Sum, want, c.Elements)
	}
}
