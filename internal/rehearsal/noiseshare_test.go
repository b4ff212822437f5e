package rehearsal

import (
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/noise"
)

// Expected noise shares are between 0 and 1, fall with a larger budget, and are
// larger for rare effects: the shipped example has an intercept for each of 12
// hospitals.
func TestExpectedNoiseShare(t *testing.T) {
	m := modelstest.Read(t, "../../datasets/cohort.yaml")
	shares := func(cfg plan.Config) []float64 {
		p, err := plan.New(m, cfg)
		if err != nil {
			t.Fatal(err)
		}
		return ExpectedNoiseShare(p, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
	}
	small, large := shares(plan.Config{Epsilon: 0.5}), shares(plan.Config{Epsilon: 4})
	unknown := 0
	for j := range small {
		if small[j] == 0 && large[j] == 0 {
			unknown++ // the effect of a missing bmi: simulated records miss none
			continue
		}
		if !(large[j] > 0 && large[j] < small[j] && small[j] < 1) {
			t.Errorf("number %d: share %g at epsilon 0.5, %g at 4", j, small[j], large[j])
		}
	}
	if unknown != 1 {
		t.Errorf("of %d numbers nothing is expected, want 1", unknown)
	}
	intercept, hospital := m.Params[0], m.Params[len(m.Params)-1]
	if hospital.Name != "z_hospital" || small[hospital.Offset] < 1.2*small[intercept.Offset] {
		t.Errorf("share %g of %s, %g of the intercept", small[hospital.Offset], hospital.Name, small[intercept.Offset])
	}
	if shares(plan.Config{NonPrivate: true}) != nil {
		t.Error("a plan without noise expects some")
	}
}
