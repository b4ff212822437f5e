package fit_test

import (
	"slices"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
	"d3p/internal/settings"
)

const sites = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    u: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}, constant_within: none}
    site: {type: category, levels: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}
    y: {type: integer, lower: 0, upper: 200}
model:
  formula: y ~ 1 + u + (1 | site)
  family: poisson
  priors:
    Intercept: normal(0, 1)
    b: normal(0, 0.3)
    sd: half_normal(0.7)
`

// Chains of a private fit that fail run again, and some mix then: noise leaves the spread between
// groups hardly known. The seeds fix all of it.
func TestFailedChainsRunAgain(t *testing.T) {
	m := modelstest.Compile(t, "sites.yaml", sites)
	s, _ := ofPrior(t, m, 1000, 4)
	p := s.plan(t, plan.Config{Epsilon: 0.3, NoiseAware: settings.NoiseAwareSample})
	first, again := s.fitted(t, p, 0), s.fitted(t, p, 0)
	if tries := first.Tries; tries.Repeated == 0 || tries.Unmixed >= tries.Repeated {
		t.Errorf("%d chains ran again, of which %d still do not mix", tries.Repeated, tries.Unmixed)
	}
	if !slices.Equal(first.Lambda, again.Lambda) || first.Tries != again.Tries {
		t.Error("a second fit with the same seeds has another posterior")
	}
}

// Chains mix where the effects of groups are known and the standard deviation between them is not: a step may
// then be no longer than the least known combination of them allows, unless the coordinates follow them.
func TestChainsOfKnownEffectsMix(t *testing.T) {
	m := modelstest.Compile(t, "sites.yaml", sites)
	repeated := 0
	for seed := range uint64(4) {
		s, _ := ofPrior(t, m, 1000, seed)
		repeated += s.fitted(t, s.plan(t, plan.Config{Epsilon: 4, NoiseAware: settings.NoiseAwareSample}), 0).Tries.Repeated
	}
	t.Logf("%d chains ran again", repeated)
	if repeated > 1 {
		t.Errorf("%d chains of four fits ran again", repeated)
	}
}
