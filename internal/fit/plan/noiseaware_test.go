package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/settings"
	"d3p/internal/stattest"
)

// A normal family is fitted by second moments, unless settings contradict it. The posterior
// of other families is a sample by default where their likelihood is not normal and the law
// of the columns is bought with little noise: the table has enough records, and enough usable ones.
func TestSampledFamilies(t *testing.T) {
	stattest.SkipNumerics(t)
	for _, c := range []struct {
		family, response string
		records          int
		cfg              Config
		want             string
	}{
		{"cumulative", "{type: ordinal, levels: [0, 1, 2, 3]}", 5000, Config{}, settings.NoiseAwareSample},
		{"cumulative", "{type: ordinal, levels: [0, 1, 2, 3]}", 1000, Config{}, settings.NoiseAwareSample},  // the law is noisy
		{"cumulative", "{type: ordinal, levels: [0, 1, 2, 3]}", 60, Config{}, settings.NoiseAwareCurvature}, // nothing is bought
		{"negative_binomial", "{type: integer, lower: 0, upper: 50}", 5000, Config{}, settings.NoiseAwareSample},
		{"negative_binomial", "{type: integer, lower: 0, upper: 50}", 1000, Config{}, settings.NoiseAwareSample},  // the law is noisy
		{"negative_binomial", "{type: integer, lower: 0, upper: 50}", 60, Config{}, settings.NoiseAwareCurvature}, // nothing is bought
		{"cumulative", "{type: ordinal, levels: [0, 1, 2, 3]}", 5000, Config{Table1: settings.Table1None}, settings.NoiseAwareCurvature},
		{"cumulative", "{type: ordinal, levels: [0, 1, 2, 3]}", 5000, Config{NoiseAware: settings.NoiseAwareCurvature}, settings.NoiseAwareCurvature},
		{"cumulative", "{type: ordinal, levels: [0, 1, 2, 3]}", 5000, Config{Guide: "delta"}, settings.NoiseAwareNone},
		{"poisson", "{type: integer, lower: 0, upper: 50}", 5000, Config{}, settings.NoiseAwareSample},
		{"poisson", "{type: integer, lower: 0, upper: 50}", 1000, Config{}, settings.NoiseAwareSample}, // the law is noisy
		{"bernoulli | group", "{type: binary}", 5000, Config{}, settings.NoiseAwareSample},
		{"bernoulli", "{type: binary}", 5000, Config{}, settings.NoiseAwareSample},
		{"bernoulli | beta", "{type: binary}", 5000, Config{}, settings.NoiseAwareCurvature},
		{"bernoulli | weight", "{type: binary}", 5000, Config{}, settings.NoiseAwareCurvature},
		{"bernoulli", "{type: binary}", 1000, Config{}, settings.NoiseAwareCurvature},
		{"normal", "{type: real, lower: -9, upper: 9}", 5000, Config{}, settings.NoiseAwareMoments},
		{"normal", "{type: real, lower: -9, upper: 9}", 300, Config{}, settings.NoiseAwareMoments},
		{"normal", "{type: real, lower: -9, upper: 9}", 100, Config{}, settings.NoiseAwareCurvature}, // second moments would be noise
		{"normal", "{type: real, lower: -9, upper: 9}", 5000, Config{Steps: 50}, settings.NoiseAwareCurvature},
		{"normal", "{type: real, lower: -9, upper: 9}", 5000, Config{Table1: settings.Table1None}, settings.NoiseAwareCurvature},
		{"normal | group", "{type: real, lower: -9, upper: 9}", 5000, Config{}, settings.NoiseAwareSample},
		{"normal | group", "{type: real, lower: -9, upper: 9}", 1000, Config{}, settings.NoiseAwareCurvature}, // the law is noisy
		{"normal | beta", "{type: real, lower: -9, upper: 9}", 5000, Config{}, settings.NoiseAwareCurvature},
		{"normal | weight", "{type: real, lower: -9, upper: 9}", 5000, Config{}, settings.NoiseAwareCurvature},
		{"skew_normal", "{type: real, lower: -9, upper: 9}", 1000, Config{}, settings.NoiseAwareSample}, // the law is noisy
		{"skew_normal", "{type: real, lower: -9, upper: 9}", 50, Config{}, settings.NoiseAwareSample},   // nothing is bought
		{"gompertz", "{type: real, lower: 0.1, upper: 9}", 1000, Config{}, settings.NoiseAwareSample},
		{"exponential", "{type: real, lower: 0.1, upper: 9}", 1000, Config{}, settings.NoiseAwareCurvature},
		{"exponential | truncated", "{type: real, lower: 0.1, upper: 9}", 1000, Config{}, settings.NoiseAwareSample},
		{"exponential | truncated", "{type: real, lower: 0.1, upper: 9}", 5000, Config{Table1: settings.Table1None}, settings.NoiseAwareSample},
		{"student_t", "{type: real, lower: -9, upper: 9}", 5000, Config{}, settings.NoiseAwareCurvature},
	} {
		family, extra, _ := strings.Cut(c.family, " | ")
		response, groups, likelihood := "y", "", ""
		switch extra {
		case "group":
			groups = " + (1 | g)"
		case "truncated":
			response = "y | trunc(lb = 0.1)"
		case "beta":
			likelihood = "likelihood: {divergence: beta}"
		case "weight":
			likelihood = "likelihood: {gibbs: {weight: 0.5}}"
		}
		m := modelstest.Compile(t, "m.yaml", fmt.Sprintf(`d3p: 1
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: %d}
  columns:
    u: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}}
    g: {type: category, levels: [a, b, c]}
    y: %s
model: {formula: "%s ~ u%s", family: %s}
%s
`, c.records, c.response, response, groups, family, likelihood))
		c.cfg.Epsilon = 1
		if c.cfg.Table1 == "" {
			c.cfg.Table1 = settings.Auto
		}
		p, err := New(m, c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if p.NoiseAware != c.want {
			t.Errorf("%s, %d records, %+v: noise-aware %s, want %s", c.family, c.records, c.cfg, p.NoiseAware, c.want)
		}
		if c.want != settings.NoiseAwareSample {
			continue
		}
		for records, want := range map[float64]string{4950: settings.NoiseAwareSample, 1000: settings.NoiseAwareCurvature} {
			q, l := *p, p.model.DeclaredLaw()
			l.Records, l.RecordsSD = records, 30
			if slices.Contains([]string{"poisson", "cumulative", "negative_binomial", "skew_normal", "gompertz", "exponential | truncated"}, c.family) {
				want = settings.NoiseAwareSample
			}
			if err := q.Learn(l); err != nil || q.NoiseAware != want {
				t.Errorf("%s: %s where %g of %d declared records are usable, want %s (%v)", c.family, q.NoiseAware, records, c.records, want, err)
			}
			stated := *p
			stated.NoiseAwareStated = true
			if err := stated.Learn(l); err != nil || stated.NoiseAware != settings.NoiseAwareSample {
				t.Errorf("%s: a sample that was asked for becomes %s (%v)", c.family, stated.NoiseAware, err)
			}
		}
	}
}
