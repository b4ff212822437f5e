package fit_test

import (
	"context"
	"testing"

	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models/guide"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
	"d3p/internal/stattest"
)

const counts = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 300}
  columns:
    u: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}}
    v: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}}
    y: {type: integer, lower: 0, upper: 200}
model:
  formula: y ~ 1 + u + v
  family: poisson
  priors:
    Intercept: normal(0, 1)
    b: normal(0, 0.3)
`

// Intervals of a sampled posterior hold at their rate where the noise is larger than the
// information of few records: 300 counts at ε = 0.5, parameters drawn from the prior.
// With 90 % of 60 intervals expected, fewer than 46 hold in 1 of 1000 runs; with a
// thousandth of the noise's variance 42 hold.
func TestIntervalsOfSampledPosterior(t *testing.T) {
	stattest.SkipNumerics(t)
	m := modelstest.Compile(t, "counts.yaml", counts)
	held, total := 0, 0
	for seed := range uint64(20) {
		rng := noise.NewRandom(noise.Public(seed).Stream(noise.Simulation))
		table, truth := simulate.Prior(m, 300, rng)
		s := &study{model: m, data: writeTable(t, table)}
		p := s.plan(t, plan.Config{Epsilon: 0.5, NoiseAware: settings.NoiseAwareSample, InitSeed: 50 + seed})
		result, err := fit.Run(context.Background(), p, s.curator(t, p, seed, privacy.Ledger{}), nil)
		if err != nil {
			t.Fatal(err)
		}
		post := result.Posterior
		g, ok := post.Guide.(guide.Sample)
		if !ok {
			t.Fatalf("the posterior is %s, not a sample", post.Guide.Name())
		}
		for j := range truth {
			below := 0
			for i := range g.Draws() {
				if post.Lambda[(i+1)*m.P+j] < truth[j] {
					below++
				}
			}
			if share := float64(below) / float64(g.Draws()); share > 0.05 && share < 0.95 {
				held++
			}
			total++
		}
	}
	t.Logf("%d of %d intervals hold", held, total)
	if held < 46 {
		t.Errorf("%d of %d intervals hold, want 54", held, total)
	}
}
