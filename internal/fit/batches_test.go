package fit_test

import (
	"context"
	"math"
	"strings"
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

// Variances count what batches leave out: all steps together draw as many of 3000 counts
// as there are, so a variance is 1 + k = 2.4 times that of a fit to all records.
func TestVarianceByBatches(t *testing.T) {
	stattest.SkipNumerics(t)
	m := modelstest.Compile(t, "counts.yaml", strings.Replace(counts, "public: 300", "public: 3000", 1))
	for _, by := range []string{settings.NoiseAwareCurvature, settings.NoiseAwareSample} {
		ratio := 0.0
		for seed := range uint64(tables) {
			rng := noise.NewRandom(noise.Public(seed).Stream(noise.Simulation))
			table, _ := simulate.Prior(m, 3000, rng)
			s := &study{model: m, data: writeTable(t, table)}
			var variance [2][]float64
			for k, rate := range []float64{1, 1.0 / 100} {
				p := s.plan(t, plan.Config{NoiseMultiplier: 0.35, Delta: 1e-5, Steps: 100, SamplingRate: rate, NoiseAware: by, InitSeed: 50 + seed})
				result, err := fit.Run(context.Background(), p, s.curator(t, p, seed, privacy.Ledger{}), nil)
				if err != nil {
					t.Fatal(err)
				}
				post := result.Posterior
				variance[k] = make([]float64, m.P)
				post.Guide.SD(variance[k], post.Lambda)
				_, contained := post.Guide.(guide.Sample)
				for j, sd := range variance[k] {
					variance[k][j] = sd * sd
					if !contained {
						variance[k][j] += post.VarDP[j]
					}
				}
			}
			for j, v := range variance[1] {
				ratio += math.Log(v/variance[0][j]) / float64(tables*m.P)
			}
		}
		ratio = math.Exp(ratio)
		t.Logf("%s: %.2f", by, ratio)
		if ratio < 2.1 || ratio > 3.5 {
			t.Errorf("%s: variances are %.2f times those of all records, want 2.4 and the noise", by, ratio)
		}
	}
}

// tables is the number of simulated tables of TestVarianceByBatches.
const tables = 4
