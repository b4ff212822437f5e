package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/privacy/enginetest"
)

// TestTermsTogether checks that the weights of the input and of the state of a recurrent
// layer are multiplied by the same inner products, in the network of TestConformance.
func TestTermsTogether(t *testing.T) {
	for _, m := range enginetest.Models() {
		if m.Name != "layers: a longer recurrent layer" {
			continue
		}
		p, err := compile(m.Tape(t))
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.terms {
			if len(p.terms[i].together) == 2 {
				return
			}
		}
		t.Fatalf("no two terms have one delta:\n%v", p.tape)
	}
	t.Fatal("no such network")
}

// TestGram checks norms, their sizes and inner products by Gram matrices against those of
// the written-out elements, with places around and above the size of a tile, and elements
// above the depth. The rows of x are of two terms.
func TestGram(t *testing.T) {
	const pitch, records, firstRows = 16, 8, 2
	rng := rand.New(rand.NewPCG(3, 1))
	for _, sizes := range [][2]int{{5, 7}, {70, 3}, {3, 130}} {
		rows, cols := sizes[0], sizes[1]
		draw := func(count, width int) []float64 {
			x := make([]float64, count*width*pitch)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			return x
		}
		pack := func(side, width int, x, delta []float64) *panel {
			numbers := 8 * (width + side - 1) / side * side
			p := &panel{side, width, rows, cols, make([]float64, 2*numbers*rows), make([]float64, 2*numbers*cols)}
			packPlaces(p.x, x, side, width, pitch, rows, firstRows)
			packPlaces(p.x[8*side*firstRows:], x[firstRows*width*pitch:], side, width, pitch, rows, rows-firstRows)
			packPlaces(p.delta, delta, side, width, pitch, cols, cols)
			return p
		}
		element := func(x, delta []float64, r, col, width, b int) (e float64) {
			for w := range width {
				e += x[(r*width+w)*pitch+b] * delta[(col*width+w)*pitch+b]
			}
			return e
		}
		square := func(x []float64, count, width, w, b int) (s float64) {
			for k := range count {
				s += x[(k*width+w)*pitch+b] * x[(k*width+w)*pitch+b]
			}
			return s
		}
		for _, width := range []int{2, 3, 4, 5, 7, 8, 9, 31, 32, 101} {
			for _, other := range []int{3, 6} {
				side := 4
				if min(width, other) < side {
					side = 1
				}
				x, delta, y, epsilon := draw(rows, width), draw(cols, width), draw(rows, other), draw(cols, other)
				p, q, m, n := pack(side, width, x, delta), pack(side, other, y, epsilon), gramScratch{}, gramScratch{}
				m.multiply(p, p, true)
				n.multiply(p, q, false)
				for b := range records {
					norm2, inner, size := 0.0, 0.0, 0.0
					for r := range rows {
						for col := range cols {
							e, f := element(x, delta, r, col, width, b), element(y, epsilon, r, col, other, b)
							norm2, inner = norm2+e*e, inner+e*f
						}
					}
					for w := range width {
						size += square(x, rows, width, w, b) * square(delta, cols, width, w, b)
					}
					if got := m.size[b]; math.Abs(got-size) > 1e-12*size {
						t.Errorf("%d places, record %d: size %v, want %v", width, b, got, size)
					}
					if got := m.total[b]; math.Abs(got-norm2) > 1e-12*norm2 {
						t.Errorf("%d places, record %d: squared norm %v, want %v", width, b, got, norm2)
					}
					if got := n.total[b]; math.Abs(got-inner) > 1e-11*norm2 {
						t.Errorf("%d and %d places, record %d: inner product %v, want %v", width, other, b, got, inner)
					}
				}
			}
		}
	}
}
