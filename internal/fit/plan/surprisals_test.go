package plan

import (
	"fmt"
	"math"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/event"
	"d3p/internal/settings"
)

// Regressions of or by a number buy surprisals for little of mu squared where noise is much, and for a fifth of it at
// most. Others, fits without Table 1, and those of so few records that noise would hide them all, buy none.
func TestPlansThatBuySurprisals(t *testing.T) {
	for _, c := range []struct {
		response, family, formula string
		records, rows             int // rows of a record
		cfg                       Config
		least, most               float64 // share
	}{
		{"{type: integer, lower: 0, upper: 50}", "poisson", "y ~ x", 1000, 1, Config{}, 0.02, 0.05},
		{"{type: integer, lower: 0, upper: 50}", "poisson", "y ~ x", 300, 1, Config{}, 0, 0},
		{"{type: integer, lower: 0, upper: 50}", "poisson", "y ~ x", 100000, 1, Config{}, 0.19, 0.21},
		{"{type: real, lower: 0.1, upper: 50}", "gamma", "y ~ x", 100000, 1, Config{}, 0.19, 0.21},
		{"{type: real, lower: -9, upper: 9}", "normal", "y ~ x", 100000, 1, Config{}, 0.19, 0.21},
		{"{type: integer, lower: 0, upper: 50}", "poisson", "y ~ x", 100000, 1, Config{Table1: settings.Table1None}, 0, 0},
		{"{type: integer, lower: 0, upper: 50}", "poisson", "y ~ x", 1000, 3, Config{}, 0.02, 0.05},
		{"{type: real, lower: -9, upper: 9}", "normal", "y ~ x", 100000, 3, Config{}, 0.19, 0.21},
		{`{type: binary, levels: ["0", "1"]}`, "bernoulli", "y ~ x", 100000, 1, Config{}, 0.19, 0.21},
		{`{type: binary, levels: ["0", "1"]}`, "bernoulli", "y ~ band", 100000, 1, Config{}, 0, 0},
		{"{type: ordinal, levels: [a, b, c]}", "cumulative", "y ~ x", 100000, 1, Config{}, 0.19, 0.21},
		{"{type: integer, lower: 0, upper: 50}", "poisson", "y ~ x", 100000, 1, Config{Guide: "full_rank"}, 0, 0},
	} {
		m := modelstest.Compile(t, "y.yaml", fmt.Sprintf("d3p: 1\ndata:\n  unit: {entity: person, id: person, rows_per_unit: %d}\n  rows: {public: %d}\n  columns:\n    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}\n    band: {type: category, levels: [a, b]}\n    y: %s\nmodel: {formula: %s, family: %s}\n", c.rows, c.records, c.response, c.formula, c.family))
		c.cfg.Epsilon = 1
		if c.cfg.Table1 == "" {
			c.cfg.Table1 = settings.Auto
		}
		p, err := New(m, c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		share := 0.0
		for _, e := range p.Surprisals.Events(p.Neighbours) {
			share += 1 / math.Pow(p.Mu*e.(event.Gaussian).NoiseMultiplier, 2)
		}
		if share < c.least-1e-9 || share > c.most+1e-9 || (share > 0) != (p.Surprisals != nil) {
			t.Errorf("%s %s, %d records of %d rows, %+v: share %.3f, want %g to %g", c.family, c.formula, c.records, c.rows, c.cfg, share, c.least, c.most)
		}
	}
}
