package fit_test

import (
	"context"
	"math"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/fit/fittest"
	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
	"d3p/internal/posterior"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
)

// The number of threads changes no bit of a fit of 79,510 weights, whose noise,
// optimizer, average and noise recursion are shared between them.
func TestFitOnThreads(t *testing.T) {
	m := modelstest.Read(t, "../../configs/mlp-mnist.yaml", "    input: ", "    prior: normal(0, 1)\n    input: ")
	table := privacy.NewTable(privacy.TableConfig{
		Data: randomImages(t, 64), Encoding: m.Encoding, Spare: m.Likelihood.K - m.Likelihood.K0, Precision: privacy.Float32, Root: noise.Insecure(1),
	})
	half := 0.5
	for name, change := range map[string]func(*plan.Config){
		"delta":      func(c *plan.Config) { c.Guide, c.Averaging = "delta", &half },
		"mean_field": func(c *plan.Config) { c.Guide, c.NoiseAware = "mean_field", settings.NoiseAwareVariance },
		"curvature":  func(c *plan.Config) { c.Guide, c.NoiseAware = "mean_field", settings.NoiseAwareCurvature },
		"variance, adagrad": func(c *plan.Config) {
			c.Guide, c.NoiseAware, c.Optimizer = "mean_field", settings.NoiseAwareVariance, "adagrad"
		},
	} {
		t.Run(name, func(t *testing.T) {
			var want *posterior.Posterior
			for _, threads := range []int{1, 3} {
				cfg := plan.Config{
					Records: 64, Sampling: "full", Steps: 4, Averaging: &half, Clipping: settings.ClippingFlat, ClipNorm: 10,
					NoiseMultiplier: 1.5, Delta: 1e-5, Neighbours: "add_remove",
				}
				change(&cfg)
				p := fittest.Plan(t, m, cfg)
				c := fittest.Curator(t, p, privacy.CuratorConfig{Table: table, Engine: cpu.New(cpu.Options{Threads: threads}), Root: noise.Insecure(1)})
				gotResult, err := fit.Run(context.Background(), p, c, nil)
				if err != nil {
					t.Fatal(err)
				}
				got := gotResult.Posterior
				if want == nil {
					want = got
				}
				for what, x := range map[string][2][]float64{
					"mean": {got.Mean, want.Mean}, "log sd": {got.LogSD, want.LogSD}, "noise": {got.VarDP, want.VarDP},
				} {
					for j := range x[1] {
						if math.Float64bits(x[0][j]) != math.Float64bits(x[1][j]) {
							t.Fatalf("%s[%d] is %g on %d threads, %g on one", what, j, x[0][j], threads, x[1][j])
						}
					}
				}
			}
		})
	}
}
