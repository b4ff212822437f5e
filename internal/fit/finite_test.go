package fit_test

import (
	"math"
	"strings"
	"testing"

	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
)

// A plan with a number that JSON lacks, and a prior without a gradient where the fit starts,
// are refused by name.
func TestCheckFinite(t *testing.T) {
	const source = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    y: {type: binary}
core:
  params:
    a: normal(0, 1)
    b: normal(exp(10000 * (a + 1)), 1)
  rows:
    observe:
      y: bernoulli(logits=a + b)
`
	for _, c := range []struct {
		alter func(*plan.Plan)
		model string
		want  string
	}{
		{func(*plan.Plan) {}, strings.Replace(source, "10000 * (a + 1)", "a", 1), ""},
		{func(*plan.Plan) {}, source, "the prior of a, b has no finite gradient where the fit starts"},
		{func(p *plan.Plan) { p.ClipQuantile = math.NaN() }, strings.Replace(source, "10000 * (a + 1)", "a", 1), "clip_quantile of the plan is no finite number"},
		{func(p *plan.Plan) { p.ClipNorm = math.Inf(1) }, strings.Replace(source, "10000 * (a + 1)", "a", 1), "clip_norm of the plan is no finite number"},
	} {
		p, err := plan.New(modelstest.Compile(t, "core.yaml", c.model), plan.Config{Epsilon: 1})
		if err != nil {
			t.Fatal(err)
		}
		c.alter(p)
		err = fit.CheckFinite(p)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
