package fit_test

import (
	"math"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/stattest"
)

// With 200 records, C = 1 and a small residual sd nearly every gradient is clipped.
// Then the sampling of records adds little to the variance of a released gradient.
// Intervals that take this variance to be the information are several times too wide:
// the mean squared error of coefficients is 0.12 posterior variances. Over 24 tables
// and two coefficients it must be between 0.4 and 2. If these were independent, its
// standard error would be 0.2; the run is always the same.
func TestIntervalsUnderHeavyClipping(t *testing.T) {
	stattest.SkipNumerics(t)
	const n, tables = 200, 24
	m, err := models.Read("residuals.yaml", []byte(strings.Replace(modelstest.Residuals, "half_normal(1)", "half_normal(0.2)", 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for seed := range uint64(tables) {
		s, truth := ofPrior(t, m, n, seed)
		p := s.plan(t, plan.Config{Epsilon: 4, Records: n})
		post := s.fitted(t, p, seed)
		sd := make([]float64, m.P)
		post.SD(sd)
		for _, q := range m.Params {
			if j := q.Offset; q.Name != "sigma" {
				z := (post.Mean[j] - truth[j]) / sd[j]
				sum += math.Min(z*z, 16) / (2 * tables)
			}
		}
	}
	t.Logf("mean squared error %.2f posterior variances", sum)
	if sum < 0.4 || sum > 2 {
		t.Errorf("mean squared error %.2f posterior variances, want 1", sum)
	}
}
