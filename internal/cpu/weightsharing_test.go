package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
)

// TestGram checks norms and inner products by Gram matrices against those of
// the written-out elements, with places around and above the size of a tile.
func TestGram(t *testing.T) {
	const rows, cols, pitch, records = 5, 7, 16, 11
	rng := rand.New(rand.NewPCG(3, 1))
	draw := func(width int) split {
		f := split{make([]float64, rows*width*pitch), make([]float64, cols*width*pitch)}
		for _, x := range [][]float64{f.x, f.delta} {
			for i := range x {
				x[i] = rng.NormFloat64()
			}
		}
		return f
	}
	element := func(f split, r, col, width, b int) (e float64) {
		for w := range width {
			e += f.x[(r*width+w)*pitch+b] * f.delta[(col*width+w)*pitch+b]
		}
		return e
	}
	for _, width := range []int{2, 3, 4, 5, 7, 8, 9, 31, 101} {
		for _, other := range []int{3, 6} {
			s := &term{Term: graph.Term{Rows: rows, Cols: cols, Width: width}}
			u := &term{Term: graph.Term{Rows: rows, Cols: cols, Width: other}}
			f, g, m := draw(width), draw(other), gramScratch{}
			squares, inners := make([]float64, records), make([]float64, records)
			m.add(squares, pitch, s, s, f, f, 1)
			m.add(inners, pitch, s, u, f, g, 2)
			for b := range records {
				norm2, inner := 0.0, 0.0
				for r := range rows {
					for col := range cols {
						x, y := element(f, r, col, width, b), element(g, r, col, other, b)
						norm2, inner = norm2+x*x, inner+2*x*y
					}
				}
				if got := squares[b]; math.Abs(got-norm2) > 1e-12*norm2 {
					t.Errorf("%d places, record %d: squared norm %v, want %v", width, b, got, norm2)
				}
				if got := inners[b]; math.Abs(got-inner) > 1e-11*norm2 {
					t.Errorf("%d and %d places, record %d: inner product %v, want %v", width, other, b, got, inner)
				}
			}
		}
	}
}
