package noise

import (
	"math"
	"testing"

	"d3p/internal/stattest"
)

func TestUint64n(t *testing.T) {
	s := Insecure(11).Stream(Sampling)
	for _, n := range []uint64{1, 2, 3, 7, 10, 1 << 40, 3 << 62} {
		cells := min(n, 12)
		counts := make([]int, cells)
		for range 60000 {
			v := s.Uint64n(n)
			if v >= n {
				t.Fatalf("Uint64n(%d) = %d", n, v)
			}
			counts[int(float64(v)/float64(n)*float64(cells))]++
		}
		if n > 1 {
			stattest.Require(t, "Uint64n", stattest.Uniform(counts))
		}
	}
}

// Every word that Lemire's method would map to a value too often is rejected:
// with n = 3·2^62 exactly a quarter of the words is.
func TestUint64nRejects(t *testing.T) {
	s := Insecure(12).Stream(Sampling)
	const draws = 100000
	for range draws {
		s.Uint64n(3 << 62)
	}
	words := int(s.next*blockSize-(bufferSize-uint64(s.used))) / 8
	stattest.Require(t, "rejections", stattest.Binomial(draws, words, 0.75))
}

func TestBernoulli(t *testing.T) {
	s := Insecure(13).Stream(Sampling)
	const n = 200000
	for _, p := range []float64{0, 1e-3, 0.3, 0.5, 0.999, 1} {
		k := 0
		for range n {
			if s.Bernoulli(p) {
				k++
			}
		}
		if p == 0 || p == 1 {
			if k != int(p*n) {
				t.Errorf("Bernoulli(%g): %d of %d", p, k, n)
			}
			continue
		}
		stattest.Require(t, "Bernoulli", stattest.Binomial(k, n, p))
	}
}

func TestProbabilitiesOutsideAreRefused(t *testing.T) {
	s := Insecure(15).Stream(Sampling)
	for _, p := range []float64{-0.25, 1.25, math.NaN()} {
		for name, draw := range map[string]func(){
			"Bernoulli": func() { s.Bernoulli(p) }, "Binomial": func() { s.Binomial(10, p) }, "trials": func() { s.Binomial(1<<40+1, 0.5) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s, p = %g: accepted", name, p)
					}
				}()
				draw()
			}()
		}
	}
}

func TestFixedPoint(t *testing.T) {
	for _, c := range []struct {
		p      float64
		hi, lo uint64
	}{
		{0, 0, 0},
		{0.5, 1 << 63, 0},
		{1 - 0x1p-53, 1<<64 - 1<<11, 0},
		{0x1p-64, 1, 0},
		{0x1p-65, 0, 1 << 63},
		{0x1.8p-64, 1, 1 << 63},
		{0x1p-128, 0, 1},
		{math.SmallestNonzeroFloat64, 0, 0},
	} {
		if hi, lo := fixedPoint(c.p); hi != c.hi || lo != c.lo {
			t.Errorf("fixedPoint(%g) = %#x, %#x, want %#x, %#x", c.p, hi, lo, c.hi, c.lo)
		}
	}
}

func TestFloat64(t *testing.T) {
	s := Insecure(14).Stream(PosteriorDraws)
	sample := make([]float64, 50000)
	for i := range sample {
		sample[i] = s.Float64()
	}
	stattest.Require(t, "Float64", stattest.KolmogorovSmirnov(sample, func(x float64) float64 { return x }))
}
