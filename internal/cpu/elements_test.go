package cpu

import (
	"testing"

	"d3p/internal/models/graph"
)

// TestPreferElements checks where elements replace Gram matrices: where elementCost for each
// costs at most the products of half a matrix, of all terms with one delta at once.
func TestPreferElements(t *testing.T) {
	outer := func(delta graph.Buf, rows, cols, width int) term {
		return term{Term: graph.Term{Kind: graph.TermOuter, Delta: delta, Rows: rows, Cols: cols, Width: width, RowStride: cols, ColStride: 1, Gram: true}}
	}
	scattered := outer(1, 10, 10, 100)
	scattered.RowStride = 2 * scattered.Cols
	// Rows of 10 and 10: 40·100 = 4,000 multiplications for elements, 20·w(w+1)/2 for Gram
	// matrices: 3,800 at 19 places, 4,200 at 20.
	for _, c := range []struct {
		name  string
		terms []term
		gram  []bool
	}{
		{"just too few places", []term{outer(1, 10, 10, 19)}, []bool{true}},
		{"just enough", []term{outer(1, 10, 10, 20)}, []bool{false}},
		// 40·200 = 8,000; 30·w(w+1)/2 = 6,930 at 21 places, 8,280 at 23
		{"a delta's matrix serves two terms", []term{outer(1, 10, 10, 21), outer(1, 10, 10, 21)}, []bool{true, true}},
		{"two terms that gain together", []term{outer(1, 10, 10, 23), outer(1, 10, 10, 23)}, []bool{false, false}},
		{"two deltas", []term{outer(1, 10, 10, 21), outer(2, 10, 10, 19)}, []bool{false, true}},
		{"elements apart in the gradient", []term{scattered}, []bool{true}},
		{"one of a delta's terms is apart", []term{outer(1, 10, 10, 100), scattered}, []bool{true, true}},
	} {
		p := program{terms: c.terms}
		p.preferElements()
		for i, want := range c.gram {
			if got := p.terms[i].Gram; got != want {
				t.Errorf("%s: term %d has Gram matrices: %v, want %v", c.name, i, got, want)
			}
		}
	}
}

// TestElementsReplaceGram checks sums of a network with a term for which the tape prefers
// Gram matrices and the engine elements, and one with Gram matrices.
func TestElementsReplaceGram(t *testing.T) {
	w := workload{records: 300, columns: several(64, gaussian, coin), loss: func(b *graph.Builder) *graph.Node {
		y := slidingFilter(b, "first", b.Columns(0, graph.Dim{Name: "x", Size: 64}), 46, 46, 44)
		y = slidingFilter(b, "second", y, 60, 40, 6)
		in := graph.Shape{{Name: "in", Size: 240}}
		return bernoulliLoss(b, b.Column(64), b.MatMul(b.Reshape(y, in), b.Param("out", in)))
	}}
	tape, rows, in := w.open(t)
	p, err := compile(tape)
	if err != nil {
		t.Fatal(err)
	}
	if first, second := p.terms[0], p.terms[1]; !tape.Terms[0].Gram || !first.kept || first.Gram || second.kept || !second.Gram {
		t.Fatalf("the test tests little: terms %+v", tape.Terms)
	}
	checkClippedSums(t, tape, rows, in)
}
