//go:build linux && !nogpu

package gpu

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/sensitivity"
	"d3p/internal/stattest"
)

// No record moves the sum of the kernels, on one thread, by more than C and what
// rounding allows.
func TestNoRecordMovesTheSumByMore(t *testing.T) {
	stattest.SkipNumerics(t)
	newOneThread(t, 0) // skips without a compiler
	var list []sensitivity.Model
	names := []string{
		"logistic", "group_predictors", "repeated", "curves", "linear", "hierarchical", "poisson", "gaussian_mixture", "mlp", "twin", "weibull",
		"tied weights", "tied group and predictors", "paired comparison", "softmax", "noise per record",
	}
	for _, m := range slices.Concat(sensitivity.Configs(t, "../../configs"), sensitivity.Tapes(t)) {
		if slices.Contains(names, m.Name) || m.Tape.P < 1000 && slices.ContainsFunc(m.Tape.Terms, func(t graph.Term) bool { return t.Width > 1 }) {
			list = append(list, m)
		}
	}
	if len(list) < len(names)+3 {
		t.Fatalf("%d models, want the %d by name and some with places", len(list), len(names))
	}
	rng := rand.New(rand.NewPCG(8, 15))
	for range 6 {
		list = append(list, sensitivity.Generated(t, rng.IntN(1000), rng))
	}
	for range 6 {
		list = append(list, sensitivity.Sequences(t, rng.IntN(1000), rng))
	}
	for name, wideFrom := range map[string]int64{"each block by itself": wideProducts, "all blocks together": 0} {
		t.Run(name, func(t *testing.T) {
			sensitivity.Check(t, list, func(t *testing.T) privacy.Engine {
				e := newEngine("cuda:test", newOneThread(t, 1<<30), Options{})
				e.wideFrom = wideFrom
				return e
			}, 100*time.Millisecond)
		})
	}
}
