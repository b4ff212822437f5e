package fit

import (
	"math"
	"testing"

	"d3p/internal/models"
)

const narrowLine = `d3p: 1
name: line
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 200}
  columns:
    u: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}}
    y: {type: real, lower: -20, upper: 20, scale: {center: 0, by: 1}}
model:
  formula: y ~ 1 + u
  family: normal
  priors:
    Intercept: normal(0, 1)
    b: normal(0, 1)
    sigma: half_normal(1)
`

// What records add to the variance of a gradient is its information where nothing
// is clipped; with gradients at a residual sd that is twice the true one a quarter
// of it; and it goes with the clip norm where everything is clipped.
func TestSamplingRatio(t *testing.T) {
	m, err := models.Read("line.yaml", []byte(narrowLine), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(m, Config{Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLoop(p, make([]float64, m.P))
	if err != nil {
		t.Fatal(err)
	}
	sigma := param(t, m, "sigma").Offset
	ratios := func(clipNorm, logSD float64) []float64 {
		tau := clipNorm * p.GradientNoise / p.SamplingRate
		l.state.Step, l.state.Curvature.Totals[1] = 1, tau*tau
		truth, at := []float64{0.3, -0.5, 0.2}, []float64{0.3, -0.5, 0.2}
		at[sigma] += logSD
		return l.samplingRatio(truth, at)
	}
	same, wide := ratios(1e9, 0), ratios(1e9, math.Log(2))
	all, half := ratios(1e-3, 0), ratios(5e-4, 0)
	for j := range same {
		if j != sigma && math.Abs(wide[j]-0.25) > 1e-3 {
			t.Errorf("coordinate %d: %g beside an sd twice as large, want 0.25", j, wide[j])
		}
		if math.Abs(same[j]-1) > 5e-3 {
			t.Errorf("coordinate %d: %g without clipping, want 1", j, same[j])
		}
		if all[j] > 0.01 || math.Abs(all[j]/half[j]-2) > 0.01 {
			t.Errorf("coordinate %d: %g and at half the clip norm %g", j, all[j], half[j])
		}
	}
}
