package plan_test

import (
	"testing"

	"d3p/internal/fit/fittest"
	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/settings"
)

// Rows are shortened to a length at which the search for the minimum ends, however wide the bounds.
func TestLongDesignsOfAnOptimum(t *testing.T) {
	m := modelstest.Compile(t, "wide.yaml", `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 500}
  columns:
    x: {type: real, lower: -1e12, upper: 1e12, scale: {center: 0, by: 1}}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1 + x
  family: bernoulli
  priors: {Intercept: "normal(0, 1)", b: "normal(0, 1)"}
`)
	p := fittest.Plan(t, m, plan.Config{Method: settings.MethodOutput, Epsilon: 1, Delta: 1e-5, Neighbours: "add_remove"})
	if o, _, err := p.LogisticOptimum(); err != nil || o.Bound != privacy.LongestDesign {
		t.Errorf("rows are shortened to %g, want %g (%v)", o.Bound, float64(privacy.LongestDesign), err)
	}
}
