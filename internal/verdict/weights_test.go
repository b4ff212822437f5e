package verdict

import (
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
)

// Weights of a survey that add up to a population make a record count as hundreds, and intervals too narrow by
// the root of that. Weights of mean 1 do so only if they differ much.
func TestWeightsOfASurvey(t *testing.T) {
	text := strings.Replace(oneCategory, "model:", "    w: {type: real, lower: 0, upper: 1000}\n  weights: w\nmodel:", 1)
	m := modelstest.Compile(t, "survey.yaml", text)
	for _, c := range []struct {
		edges     []float64
		shares    []float64
		want, why string
	}{
		{[]float64{0.5, 1.5}, []float64{1}, outputs.Resolved, ""},
		{[]float64{0, 0.1, 1.9, 2}, []float64{0.5, 0, 0.5}, outputs.Partly, "1.4 times too narrow: divide w by 1.9,"},
		{[]float64{300, 400}, []float64{1}, outputs.Not, "19 times too narrow: divide w by 352,"},
	} {
		l := m.DeclaredLaw()
		w := l.Column("w")
		w.Edges, w.Shares = c.edges, c.shares
		got := overweighted(m, l)
		if got.Value != c.want || !strings.Contains(got.Why, c.why) {
			t.Errorf("weights in %v: %+v, want %s", c.edges, got, c.want)
		}
	}
	if got := overweighted(m, m.DeclaredLaw()); got.Value != "" {
		t.Errorf("weights that were not bought: %+v", got)
	}
}
