package plan

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/event"
	"d3p/internal/settings"
)

// Regressions of units of several rows buy design effects: for next to nothing of many units, for a tenth of mu squared
// at most, and not where noise would hide them. Who does not buy them is warned.
func TestPlansThatBuyDesignEffects(t *testing.T) {
	for _, c := range []struct {
		formula       string
		records, rows int // rows of a record
		cfg           Config
		least, most   float64 // share
	}{
		{"y ~ x", 300, 3, Config{}, 0, 0},
		{"y ~ x", 2000, 3, Config{}, 0.09, 0.11},
		{"y ~ x", 20000, 3, Config{}, 0.002, 0.005},
		{"y ~ x", 1000000, 3, Config{}, 1e-7, 1e-4},
		{"y ~ x", 2000, 1, Config{}, 0, 0},
		{"y ~ x", 2000, 3, Config{Table1: settings.Table1None}, 0, 0},
		{"y ~ x", 2000, 3, Config{Guide: "full_rank"}, 0, 0},
		{"y ~ x", 2000, 3, Config{Epsilon: 0.05}, 0, 0},
		{"y ~ x + (1|band)", 20000, 3, Config{}, 0.003, 0.01},
	} {
		m := modelstest.Compile(t, "y.yaml", fmt.Sprintf("d3p: 1\ndata:\n  unit: {entity: person, id: person, rows_per_unit: %d}\n  rows: {public: %d}\n  columns:\n    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}\n    band: {type: category, levels: [a, b]}\n    y: {type: binary}\nmodel: {formula: %s, family: bernoulli}\n", c.rows, c.records, c.formula))
		if c.cfg.Epsilon == 0 {
			c.cfg.Epsilon = 1
		}
		if c.cfg.Table1 == "" {
			c.cfg.Table1 = settings.Auto
		}
		p, err := New(m, c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		share := 0.0
		for _, e := range p.DesignEffects.Events(p.Neighbours) {
			share += 1 / math.Pow(p.Mu*e.(event.Gaussian).NoiseMultiplier, 2)
			if after := p.After(); !event.Equal(after[len(after)-1], e) {
				t.Errorf("the plan ends with %v", after)
			}
		}
		if share < c.least-1e-12 || share > c.most+1e-12 {
			t.Errorf("%s, %d records of %d rows, %+v: share %.3g, want %g to %g", c.formula, c.records, c.rows, c.cfg, share, c.least, c.most)
		}
		warned := slices.ContainsFunc(p.Warnings, func(w Warning) bool { return w.ID == "dependent-rows" })
		if warned != (c.rows > 1 && share == 0) {
			t.Errorf("%s, %d records of %d rows, %+v: warned %v", c.formula, c.records, c.rows, c.cfg, warned)
		}
	}
}
