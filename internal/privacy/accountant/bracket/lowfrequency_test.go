package bracket

import (
	"math"
	"math/rand"
	"testing"

	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
)

// Coefficients of low frequencies against the same with 200 bits: theorem 1 allows
// them the error of a transform. Every radius has the largest coefficient that it serves.
func TestLowFrequencies(t *testing.T) {
	t.Parallel()
	const n = 1 << 15
	turns := bigTurns(n)
	var rng *rand.Rand
	var low lowFrequencies
	for name, entry := range map[string]func(j int) float64{
		"one sign":   func(int) float64 { return rng.Float64() },
		"both signs": func(int) float64 { return rng.NormFloat64() },
		"at a block's ends": func(j int) float64 {
			return float64(1 - min(1, (j+1)%(2*leastRadius)/2))
		},
	} {
		rng = rand.New(rand.NewSource(1))
		for radius := leastRadius; radius <= largestRadius; radius *= 2 {
			for _, size := range []int{1, 2*radius - 1, 1300} {
				center := size / 3
				x := make([]float64, size)
				norm := 0.0
				for j := range x {
					x[j] = entry(j)
					norm += math.Abs(x[j])
				}
				largest := highestFor(n, radius)
				low.take(n, largest, x, center)
				if low.radius != radius {
					t.Fatalf("coefficients up to %d are computed with the radius %d, not %d", largest, low.radius, radius)
				}
				for _, k := range []int{0, 1, largest / 2, largest} {
					exact := bigComplex{bigFloat(0), bigFloat(0)}
					for j, v := range x {
						exact = exact.plus(turns[Mod((j-center)*k, n)].times(bigComplex{bigFloat(v), bigFloat(0)}))
					}
					if wrong, bound := exact.distance(low.coefficient(k)), 10*numeric.Unit*math.Log2(n)*norm; !(wrong <= bound) {
						t.Errorf("%s, %d points, radius %d: coefficient %d is wrong by %.3g, bound %.3g", name, size, radius, k, wrong, bound)
					}
				}
			}
		}
	}
}

// A product that has only low frequencies left is the same whether the next lattices
// are transformed whole or for these alone.
func TestLiveCoefficients(t *testing.T) {
	t.Parallel()
	const n, theta = 1 << 14, 3
	low, whole := NewConvolution(n, 20), NewConvolution(n, 20)
	for i := range 20 {
		l := onLattice(pairs.NewGaussian(0.3+0.01*float64(i)), 1.0/512, -3, 1e-20, 1, true)
		low.Add(l, theta, 3)
		whole.live = nil
		whole.Add(l, theta, 3)
	}
	if highest := highestLow(n); len(low.live) < 5 || len(low.live) > highest || len(low.low.blocks) == 0 {
		t.Fatalf("%d live coefficients, %d blocks", len(low.live), len(low.low.blocks))
	}
	a, b, squares := low.Sequence(1), whole.Sequence(1), 0.0
	for j := range a {
		squares += (a[j] - b[j]) * (a[j] - b[j])
	}
	if wrong := math.Sqrt(squares); !(wrong <= low.Noise+whole.Noise) || wrong == 0 {
		t.Errorf("the sequences differ by %.3g, the bounds are %.3g and %.3g", wrong, low.Noise, whole.Noise)
	}
}
