package start

import (
	"math"
	"testing"

	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

// Draws of the start follow the prior N(3, 50²) × N(-1, 0.01²) × half-normal on the
// log scale, and leave other coordinates at zero. Each Kolmogorov-Smirnov test fails
// by chance with probability below stattest.Alpha.
func TestDrawPrior(t *testing.T) {
	logPrior := func(x []float64) float64 {
		a, b, c := (x[0]-3)/50, (x[1]+1)/0.01, math.Exp(x[2])
		return -a*a/2 - b*b/2 - c*c/2 + x[2] - x[3]*x[3]
	}
	m := prior{logPrior, []int{0, 1, 2}}
	rng := noise.Public(4).Stream(noise.Initialisation)
	const n = 2000
	samples := [3][]float64{}
	m0 := make([]float64, 4)
	for range n {
		drawPrior(m0, m, rng)
		for j, x := range m0[:3] {
			samples[j] = append(samples[j], x)
		}
		if m0[3] != 0 {
			t.Fatal("a scale was moved")
		}
	}
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for j, cdf := range []func(float64) float64{
		func(x float64) float64 { return normal((x - 3) / 50) },
		func(x float64) float64 { return normal((x + 1) / 0.01) },
		func(x float64) float64 { return math.Erf(math.Exp(x) / math.Sqrt2) },
	} {
		if p := stattest.KolmogorovSmirnov(samples[j], cdf); p < stattest.Alpha {
			t.Errorf("coordinate %d does not follow its prior: p = %g", j, p)
		}
	}
}

func TestStartsByName(t *testing.T) {
	for _, s := range methods() {
		found, err := lookup(s.name)
		if err != nil || found.name != s.name {
			t.Errorf("%s: %v", s.name, err)
		}
		m0 := []float64{7, 7}
		s.locate(m0, prior{func(x []float64) float64 { return -x[0]*x[0] - x[1]*x[1] }, []int{0, 1}}, noise.Public(1).Stream(noise.Initialisation))
		if m0[0] == 7 || m0[1] == 7 || math.IsNaN(m0[0]) {
			t.Errorf("%s left %v", s.name, m0)
		}
	}
	if _, err := lookup("data"); err == nil {
		t.Error("unknown start accepted")
	}
}
