package report_test

import (
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
)

// The report names the noise's source as it was: secret, from a given seed, or none. It
// reports failed assumptions as failed, and hides no hazard.
func TestReportOfTheNoise(t *testing.T) {
	seeded := reporttest.Example(t, plan.Config{Epsilon: 1})
	seeded.Insecure = true
	for name, c := range map[string]struct {
		run                  *report.Run
		noise, source        string
		seeded, bounded      bool
		fails, hazard, claim string // the report has exactly these; empty: none
	}{
		"private":  {reporttest.Example(t, plan.Config{Epsilon: 1}), "Gaussian", "operating system", false, true, "", "", "differential"},
		"seeded":   {seeded, "Gaussian", "--insecure-noise-seed", true, true, "secret-noise", "seeded-noise", ""},
		"baseline": {reporttest.Example(t, plan.Config{NonPrivate: true}), "none", "operating system", false, false, "noise", "not-private", ""},
	} {
		p, err := c.run.Privacy()
		if err != nil {
			t.Fatal(err)
		}
		if r := p.Randomness; !strings.HasPrefix(r.Noise, c.noise) || r.SeedSource != c.source || r.SeedReleased != c.seeded || r.Generator == "" {
			t.Errorf("%s: randomness %+v", name, r)
		}
		var fails, hazards []string
		bounded := false
		for _, a := range p.Assumptions {
			bounded = bounded || a.ID == "bounded-gradients"
			if a.Status == report.Fails {
				fails = append(fails, a.ID)
			}
		}
		for _, h := range p.Hazards {
			if h.ID == "seeded-noise" || h.ID == "not-private" {
				hazards = append(hazards, h.ID)
			}
		}
		if strings.Join(fails, ",") != c.fails || strings.Join(hazards, ",") != c.hazard || bounded != c.bounded {
			t.Errorf("%s: assumptions %q fail, hazards %q, gradients said to be bounded %v", name, fails, hazards, bounded)
		}
		if c.claim == "" && p.Guarantee != nil || !strings.Contains(p.Statements.OneLine, c.claim) {
			t.Errorf("%s: claims %q", name, p.Statements.OneLine)
		}
	}
}
