package verdict

import (
	"math"
	"testing"

	"d3p/internal/outputs"
	"d3p/internal/posterior"
)

// What a fit's steps miss by the model is a verdict on all variables, or on sigma and what rests on it.
// Of 8 steps chance exceeds 20.1 in 1 of 100 fits, and 26.1 in 1 of 1000.
func TestVerdictOfSteps(t *testing.T) {
	for _, c := range []struct {
		misfit       *posterior.StepMisfit
		slope, sigma string
	}{
		{nil, outputs.Resolved, outputs.Resolved},
		{&posterior.StepMisfit{Coefficients: 18, Sigma: 24, LongTails: 0.1}, outputs.Resolved, outputs.Resolved},
		{&posterior.StepMisfit{Coefficients: 18, Sigma: 24, LongTails: 0.9}, outputs.Resolved, outputs.Partly},
		{&posterior.StepMisfit{Coefficients: 18, Sigma: 30, LongTails: 0.9}, outputs.Partly, outputs.Not},
		{&posterior.StepMisfit{Coefficients: 22, Sigma: 20}, outputs.Partly, outputs.Partly},
		{&posterior.StepMisfit{Coefficients: 30, Sigma: 20}, outputs.Not, outputs.Not},
		{posterior.NewStepMisfit([]float64{1, math.NaN(), 2}, 0), outputs.Not, outputs.Not},
	} {
		d := &judged{Draws: &outputs.Draws{StepMisfit: c.misfit, Steps: 8}}
		for variable, want := range map[string]string{"b[x]": c.slope, "b_raw[x]": c.slope, "Intercept": c.slope, "sigma": c.sigma, "sigma_raw": c.sigma} {
			if got := d.besideSteps(variable); got.Value != want || (got.Why == "") != (want == outputs.Resolved) {
				t.Errorf("%+v: %s is %+v, want %s", c.misfit, variable, got, want)
			}
		}
	}
}
