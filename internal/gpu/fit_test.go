//go:build linux && !nogpu

package gpu

import (
	"context"
	"math"
	"os"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// A whole fit on the device follows the one on the CPU with the same noise: the
// iterates drift apart only as the rounding of sums and elementary functions
// does. Noise is rounded to a lattice, so that one of the about 17 000 noisy
// numbers falls on another multiple when a sum differs in its last bits: with
// probability 1e-9 or so, and then by a thousandth of the noise.
func TestFitFollowsCPU(t *testing.T) {
	source, err := os.ReadFile("../../datasets/cohort.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Read("cohort.yaml", source, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]fit.Config{
		"defaults":         {Epsilon: 1, Delta: 1e-5, Steps: 150},
		"poisson, flat":    {Epsilon: 1, Delta: 1e-5, Steps: 150, SamplingRate: 0.1, Clipping: "flat", ClipNorm: 2},
		"points":           {Epsilon: 1, Delta: 1e-5, Steps: 60, SamplingRate: 0.1, Guide: "delta"},
		"one step a time":  {Epsilon: 1, Delta: 1e-5, Steps: 40, SamplingRate: 0.1, Guide: "full-rank"},
		"automatic, fixed": {Epsilon: 1, Delta: 1e-5, Steps: 60, SamplingRate: 0.1, Sampling: "fixed_size", Adjacency: "substitute", Clipping: "automatic"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := fit.NewPlan(m, cfg)
			if err != nil {
				t.Fatal(err)
			}
			run := func(e privacy.Engine) *fit.Posterior {
				curator, err := privacy.NewCurator(privacy.CuratorConfig{
					Table: privacy.NewTable(privacy.TableConfig{
						Data: "../../datasets/cohort.csv", Encoding: m.Encoding, Precision: privacy.Float32, Root: noise.Insecure(3),
					}),
					Engine: e, Root: noise.Insecure(3), Budget: privacy.Budget{Epsilon: plan.Epsilon, Delta: plan.Delta}, Relation: plan.Adjacency,
				})
				if err != nil {
					t.Fatal(err)
				}
				post, ledger, err := fit.Run(context.Background(), plan, curator, nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(ledger.Entries) != 1 || ledger.Entries[0].Steps != plan.Steps {
					t.Errorf("ledger %+v", ledger)
				}
				return post
			}
			d := newOneThread(t, 1<<30)
			got, want := run(newEngine("cuda:test", d, Options{})), run(cpu.New(cpu.Options{Threads: 1}))
			if cfg.Guide != "full-rank" && d.launches > 10 {
				t.Errorf("%d launches for %d steps", d.launches, plan.Steps)
			}
			close := func(what string, got, want []float64) {
				t.Helper()
				if len(got) != len(want) {
					t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
				}
				for i := range want {
					if math.Abs(got[i]-want[i]) > 1e-8*(1+math.Abs(want[i])) {
						t.Errorf("%s[%d] = %.12g, want %.12g", what, i, got[i], want[i])
					}
				}
			}
			close("mean", got.Mean, want.Mean)
			close("log sd", got.LogSD, want.LogSD)
			close("noise variance", got.VarDP, want.VarDP)
			close("trace", got.Trace.Mean, want.Trace.Mean)
		})
	}
}
