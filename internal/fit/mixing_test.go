package fit_test

import (
	"slices"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
	"d3p/internal/nuts"
	"d3p/internal/settings"
	"d3p/internal/stattest"
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

// Chains of a private fit that fail run again, and most mix then: noise hides the groups, and the prior leaves
// their standard deviation between e⁻⁷ and e⁵.
func TestFailedChainsRunAgain(t *testing.T) {
	stattest.SkipNumerics(t)
	simulated := modelstest.Compile(t, "sites.yaml", sites)
	wide := modelstest.Compile(t, "sites.yaml", strings.Replace(sites, "half_normal(0.7)", "log_normal(-1, 3)", 1))
	var sum nuts.Tries
	for seed := range uint64(4) {
		s, _ := ofPrior(t, simulated, 1000, seed)
		s.model = wide
		p := s.plan(t, plan.Config{Epsilon: 0.05, NoiseAware: settings.NoiseAwareSample})
		first := s.fitted(t, p, 0)
		if first.Tries.Repeated > 0 && sum.Repeated == 0 {
			again := s.fitted(t, p, 0)
			if !slices.Equal(first.Lambda, again.Lambda) || first.Tries != again.Tries {
				t.Error("a second fit with the same seeds has another posterior")
			}
		}
		sum = sum.Plus(first.Tries)
	}
	if sum.Repeated == 0 || sum.Unmixed >= sum.Repeated {
		t.Errorf("%d chains ran again, of which %d still do not mix", sum.Repeated, sum.Unmixed)
	}
}

// Chains mix where the effects of groups are known and the standard deviation between them is not: a step may
// then be no longer than the least known combination of them allows, unless the coordinates follow them.
func TestChainsOfKnownEffectsMix(t *testing.T) {
	stattest.SkipNumerics(t)
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
