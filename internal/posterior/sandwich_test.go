package posterior

import (
	"math"
	"testing"

	"d3p/internal/models/modelstest"
)

// The sampling variance of a gradient is its information without clipping, a quarter
// of it for gradients at twice the true residual sd, and proportional to the clip
// norm where everything is clipped. Rows that are alike multiply it.
func TestSamplingRatio(t *testing.T) {
	m := modelstest.Compile(t, "residuals.yaml", modelstest.Residuals)
	sigma := param(t, m, "sigma").Offset
	ratios := func(clipNorm, logSD float64) []float64 {
		truth, at := []float64{0.3, -0.5, 0.2}, []float64{0.3, -0.5, 0.2}
		at[sigma] += logSD
		return simulation{model: m, law: m.DeclaredLaw()}.samplingRatio(truth, at, clipNorm)
	}
	same, wide := ratios(1e9, 0), ratios(1e9, math.Log(2))
	all, half := ratios(1e-3, 0), ratios(5e-4, 0)
	repeated := simulation{model: m, law: m.DeclaredLaw(), designEffects: designEffects{4, 1, 2}}.samplingRatio([]float64{0.3, -0.5, 0.2}, []float64{0.3, -0.5, 0.2}, 1e9)
	for j := range same {
		if j != sigma && math.Abs(wide[j]-0.25) > 1e-3 {
			t.Errorf("coordinate %d: %g beside an sd twice as large, want 0.25", j, wide[j])
		}
		if math.Abs(same[j]-1) > 5e-3 {
			t.Errorf("coordinate %d: %g without clipping, want 1", j, same[j])
		}
		if want := []float64{4, 1, 2}[j]; math.Abs(repeated[j]/want-1) > 5e-3 {
			t.Errorf("coordinate %d: %g where rows are alike, want %g", j, repeated[j], want)
		}
		if all[j] > 0.01 || math.Abs(all[j]/half[j]-2) > 0.01 {
			t.Errorf("coordinate %d: %g and at half the clip norm %g", j, all[j], half[j])
		}
	}
}
