package guide

import (
	"math"
	"slices"
	"testing"
)

// A separable family computes ranges of coordinates, in any order, with the bits of the
// whole, and writes nothing outside a range.
func TestSeparable(t *testing.T) {
	const p = 1300 // more than a block
	cuts := []int{0, 1, 511, 512, 700, p}
	for _, family := range Families() {
		g, err := New(family.Name, p, Options{Rank: 1})
		if err != nil {
			t.Fatal(err)
		}
		s, ok := g.(Separable)
		if !ok {
			continue
		}
		lambda, eta, grad := testLambda(g), make([]float64, g.Noise()), make([]float64, p)
		for j := range grad {
			grad[j] = math.Sin(0.3 * float64(j))
		}
		for j := range eta {
			eta[j] = math.Cos(1.1 * float64(j))
		}
		for name, c := range map[string]struct {
			size  int
			whole func(dst []float64)
			part  func(dst []float64, low, high int)
		}{
			"draw": {p, func(dst []float64) { g.Draw(dst, lambda, eta) },
				func(dst []float64, low, high int) { s.DrawRange(dst, lambda, eta, low, high) }},
			"pullback": {g.Size(), func(dst []float64) { g.Pullback(dst, grad, lambda, eta) },
				func(dst []float64, low, high int) { s.PullbackRange(dst, grad, lambda, eta, low, high) }},
			"precision": {p, func(dst []float64) { g.Precision(dst, lambda) },
				func(dst []float64, low, high int) { s.PrecisionRange(dst, lambda, low, high) }},
		} {
			want, got := make([]float64, c.size), make([]float64, c.size)
			c.whole(want)
			for k := len(cuts) - 2; k >= 0; k-- {
				c.part(got, cuts[k], cuts[k+1])
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s by ranges differs from the whole", family.Name, name)
			}
		}
	}
}
