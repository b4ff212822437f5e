package noise

import (
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

func TestFloat64(t *testing.T) {
	s := Insecure(14).Stream(PosteriorDraws)
	sample := make([]float64, 50000)
	for i := range sample {
		sample[i] = s.Float64()
	}
	stattest.Require(t, "Float64", stattest.KolmogorovSmirnov(sample, func(x float64) float64 { return x }))
}
