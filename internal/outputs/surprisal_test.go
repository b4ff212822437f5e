package outputs

import (
	"testing"

	"d3p/internal/posterior"
)

// In a fit by second moments records far out are about sigma alone, unless they are farther than long tails or
// move slopes.
func TestRecordsFarOutBesideSteps(t *testing.T) {
	for _, c := range []struct {
		misfit   *posterior.StepMisfit
		far      FarOut
		b, sigma string
	}{
		{nil, FarOut{}, Resolved, Resolved},
		{nil, FarOut{Records: 9, SD: 2}, Partly, Not},
		{&posterior.StepMisfit{}, FarOut{Records: 9, SD: 2}, Resolved, Not},
		{&posterior.StepMisfit{}, FarOut{Records: 9, SD: 2, Extreme: true}, Partly, Not},
		{&posterior.StepMisfit{}, FarOut{Records: 9, SD: 2, Shift: 2 * farShift}, Partly, Not},
	} {
		d := &Draws{misfit: c.misfit, steps: 8}
		for variable, want := range map[string]string{"b[x]": c.b, "Intercept_raw": c.b, "sigma": c.sigma, "sigma_raw": c.sigma} {
			if got := d.besideFarOut(variable, Known{Normal: true, FarOut: c.far}); got.Value != want {
				t.Errorf("%+v, %+v: %s is %+v, want %s", c.misfit, c.far, variable, got, want)
			}
		}
	}
}
