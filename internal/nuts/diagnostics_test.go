package nuts

import (
	"math"
	"testing"
)

// autoregression gives chains x_t = rho x_{t-1} + noise with unit variance and another
// mean for each chain.
func autoregression(chains, n int, rho, spread float64) [][]float64 {
	rng := seeded(11)
	out := make([][]float64, chains)
	for c := range out {
		out[c] = make([]float64, n)
		x := rng.Normal()
		for i := range out[c] {
			x = rho*x + math.Sqrt(1-rho*rho)*rng.Normal()
			out[c][i] = x + spread*float64(c)
		}
	}
	return out
}

// TestEffectiveSize compares with n(1-rho)/(1+rho), which is exact for an
// autoregression. The estimate's own error is a few percent at 40,000 draws.
func TestEffectiveSize(t *testing.T) {
	for _, rho := range []float64{0, 0.5, 0.9} {
		d := Diagnose(autoregression(4, 10000, rho, 0))
		want := 40000 * (1 - rho) / (1 + rho)
		if math.Abs(d.BulkESS/want-1) > 0.15 {
			t.Errorf("rho %v: ESS %.0f, want %.0f", rho, d.BulkESS, want)
		}
		if !(d.RHat < 1.01) || !(d.TailESS > want/4) {
			t.Errorf("rho %v: R-hat %.4f, tail ESS %.0f", rho, d.RHat, d.TailESS)
		}
	}
	// Negative correlation makes the mean better known than by independent draws.
	if d := Diagnose(autoregression(4, 10000, -0.5, 0)); d.BulkESS < 80000 {
		t.Errorf("rho -0.5: ESS %.0f, want about 120000", d.BulkESS)
	}
}

func TestRHatSeesDisagreement(t *testing.T) {
	if d := Diagnose(autoregression(4, 1000, 0, 0.5)); d.RHat < 1.1 {
		t.Errorf("chains half a standard deviation apart: R-hat %.3f", d.RHat)
	}
	// Chains with equal means and unequal spreads: only folded draws show it.
	chains := autoregression(4, 1000, 0, 0)
	for i := range chains[0] {
		chains[0][i] *= 4
	}
	if d := Diagnose(chains); d.RHat < 1.05 {
		t.Errorf("one chain four times as wide: R-hat %.3f", d.RHat)
	}
	// A chain that moves within itself: only its halves show it.
	drift := autoregression(1, 1000, 0, 0)
	for i := range drift[0] {
		drift[0][i] += float64(i) / 300
	}
	if d := Diagnose(drift); d.RHat < 1.1 {
		t.Errorf("a drifting chain: R-hat %.3f", d.RHat)
	}
}

func TestConstantDrawsHaveNoDiagnosis(t *testing.T) {
	constant := [][]float64{make([]float64, 100), make([]float64, 100)}
	if d := Diagnose(constant); !math.IsNaN(d.RHat) || !math.IsNaN(d.BulkESS) {
		t.Errorf("constant draws: %+v", d)
	}
}
