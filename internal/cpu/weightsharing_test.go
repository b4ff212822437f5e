package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
)

// TestGram checks norms and inner products by Gram matrices against those of
// the written-out elements, with places around and above the size of a block.
func TestGram(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	for _, width := range []int{2, gramBlock - 1, gramBlock, gramBlock + 1, 3*gramBlock + 5} {
		const rows, cols, other = 5, 7, 3
		s := &term{Term: graph.Term{Rows: rows, Cols: cols, Width: width}}
		u := &term{Term: graph.Term{Rows: rows, Cols: cols, Width: other}}
		c := &context{}
		c.grams = [2][]float64{make([]float64, gramBlock*width), make([]float64, gramBlock*width)}
		f, g := &split{draw(rows * width), draw(cols * width)}, &split{draw(rows * other), draw(cols * other)}
		norm2, inner := 0.0, 0.0
		for r := range rows {
			for col := range cols {
				x, y := 0.0, 0.0
				for w := range width {
					x += f.x[r*width+w] * f.delta[col*width+w]
				}
				for v := range other {
					y += g.x[r*other+v] * g.delta[col*other+v]
				}
				norm2, inner = norm2+x*x, inner+x*y
			}
		}
		if got := c.gram(s, f.x, f.delta); math.Abs(got-norm2) > 1e-12*norm2 {
			t.Errorf("%d places: squared norm %v, want %v", width, got, norm2)
		}
		if got := c.crossGram(s, u, f, g, 0); math.Abs(got-inner) > 1e-11*norm2 {
			t.Errorf("%d places: inner product %v, want %v", width, got, inner)
		}
	}
}
