package attack

import (
	"context"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/fit/fittest"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

// The game on whole fits: an attacker with the settings computes the noisy sums from the
// released iterates, and from the sums the best test of membership.
func TestFitsStayBelowEpsilon(t *testing.T) {
	stattest.SkipNumerics(t)
	g := game{unit: rowsAreUnits, more: 1.5, cfg: plan.Config{
		Sampling: "full", Steps: 3, NoiseMultiplier: 1.7, Clipping: "flat", ClipNorm: 0.1,
		Guide: "delta", Optimizer: "sgd", LearningRate: 0.01, Averaging: new(float64),
	}}
	plan, m := g.plan(t)
	const fits = 16_000
	with, without := fitted(t, plan, m, head+canary, 1, fits), fitted(t, plan, m, head, 1<<32, fits)
	g.judge(t, plan, leaked(with, without, plan.Certified.Upper, delta, stattest.Alpha))
}

// fitted fits a table many times and returns the likelihood ratios of the releases.
func fitted(t *testing.T, plan *plan.Plan, m *models.Model, table string, seed uint64, fits int) []float64 {
	t.Helper()
	path := modelstest.File(t, "table.csv", table)
	shared := privacy.NewTable(privacy.TableConfig{Data: path, Encoding: m.Encoding, Root: noise.Insecure(seed)})
	ratios, u := make([]float64, fits), make([]float64, plan.Steps)
	for i := range ratios {
		curator := fittest.Curator(t, plan, privacy.CuratorConfig{
			Table: shared, Engine: cpu.New(cpu.Options{Threads: 1}), Root: noise.Insecure(seed + uint64(i)),
		})
		result, err := fit.Run(context.Background(), plan, curator, nil)
		if err != nil {
			t.Fatal(err)
		}
		posterior := result.Posterior
		at := [2]float64{}
		for k := range u {
			sum := [2]float64{}
			for j := range sum {
				next := posterior.Trace.Mean[2*k+j]
				sum[j] = (next-at[j])/plan.LearningRate + at[j] // without the gradient of the prior
				at[j] = next
			}
			u[k] = project(plan, sum[:], 0, plan.ClipNorm)
		}
		ratios[i] = always(u, plan.NoiseMultiplier, 1)
	}
	return ratios
}
