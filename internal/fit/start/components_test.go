package start

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"d3p/internal/models/modelstest"
)

// TestComponentParams checks which parameters of a mixture start apart: all but
// weights and the widths of densities on the whole line.
func TestComponentParams(t *testing.T) {
	m := modelstest.Compile(t, "twin.yaml", `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    x: {type: real, lower: -1, upper: 1, missing: model}
    n: {type: integer, lower: 0, upper: 9}
    g: {type: category, levels: [a, b]}
    w: {type: real, lower: 0.5, upper: 1}
twin:
  components: 2
  features: {x: normal, n: poisson, g: categorical, w: gamma}
`)
	starts := make(map[string]bool)
	for _, at := range priorOf(m).locations {
		for _, p := range m.Params {
			if at >= p.Offset && at < p.Offset+p.Size {
				starts[p.Name] = true
			}
		}
	}
	want := []string{"g_probs", "n_rate", "w_mean", "w_shape", "x_loc", "x_na"}
	if d := cmp.Diff(want, slices.Sorted(maps.Keys(starts))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
