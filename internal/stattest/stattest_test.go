package stattest

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(t *testing.T, name string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s = %.12g, want %.12g", name, got, want)
	}
}

// Reference values from mpmath (40 digits).
func TestReferenceValues(t *testing.T) {
	near(t, "Normal(1.96)", Normal(1.96), 0.04999579029644087, 1e-12)
	near(t, "Normal(-6.11)", Normal(-6.11), 9.963114008462522e-10, 1e-11)
	near(t, "Binomial(0, 10, .5)", Binomial(0, 10, .5), 2.0/1024, 1e-9)
	near(t, "Binomial(9, 10, .5)", Binomial(9, 10, .5), 22.0/1024, 1e-9)
	near(t, "Binomial(5, 10, .5)", Binomial(5, 10, .5), 1, 1e-12)
	near(t, "kolmogorovTail(1)", kolmogorovTail(1), 0.26999967167735456, 1e-12)
	near(t, "kolmogorovTail(3.5)", kolmogorovTail(3.5), 4.57946969129110e-11, 1e-11)
	// One degree of freedom: chi² = 4.5²·(1/100 + 1/100) is z².
	near(t, "ChiSquare", ChiSquare([]int{145, 55}, []float64{100, 100}), Normal(45/math.Sqrt(50)), 1e-9)
}

// A law that is right passes and one that is wrong by a little fails.
func TestTellsRightFromWrong(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	counts := make([]int, 10)
	skewed := make([]int, 10)
	sample := make([]float64, 20000)
	for i := range sample {
		counts[rng.IntN(10)]++
		skewed[min(9, int(10*math.Pow(rng.Float64(), 1.1)))]++
		sample[i] = rng.NormFloat64()
	}
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	Require(t, "uniform", Uniform(counts))
	Require(t, "normal", KolmogorovSmirnov(sample, cdf))
	if p := Uniform(skewed); p >= Alpha {
		t.Errorf("skewed counts pass as uniform: p = %g", p)
	}
	shifted := func(x float64) float64 { return cdf(x - 0.06) }
	if p := KolmogorovSmirnov(sample, shifted); p >= Alpha {
		t.Errorf("a shift of 0.06 passes: p = %g", p)
	}
	if p := Binomial(5300, 10000, .5); p > 1e-8 {
		t.Errorf("Binomial(5300, 10000, .5) = %g, want about 2e-9", p)
	}
}
