package plan

import (
	"math"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/guide"
	"d3p/internal/privacy/sampler"
	"d3p/internal/settings"
	"d3p/internal/stattest"
)

// The steps' work stops to grow with the number of records where the posterior counts what
// batches leave out; a choice of the user stands, and no warning calls the default small.
func TestDrawsOfDefaultBatches(t *testing.T) {
	stattest.SkipNumerics(t)
	for _, c := range []struct {
		cfg   Config
		draws float64 // 0: more than mostDraws
		warns bool
	}{
		{Config{Records: 1e7}, 1e8, false},
		{Config{Records: 1e9}, 1e8, true},
		{Config{Records: 1e7, Guide: guide.LowRankName}, 0, false},
		{Config{Records: 1e7, NoiseAware: settings.NoiseAwareVariance}, 0, false},
		{Config{Records: 1e7, SamplingRate: 0.02}, 2e8, false},
	} {
		c.cfg.Epsilon = 1
		p, err := New(normals(t, 3), c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		draws := p.SamplingRate * float64(p.Records*p.Steps)
		if c.draws == 0 && draws <= mostDraws || c.draws > 0 && math.Abs(draws-c.draws) > 1 {
			t.Errorf("%+v: %g draws, want %g", c.cfg, draws, c.draws)
		}
		of := func(id string) bool {
			return slices.ContainsFunc(p.Warnings, func(w Warning) bool { return w.ID == id })
		}
		if of("few-draws") != c.warns || of("small-batches") {
			t.Errorf("%+v: %+v", c.cfg, p.Warnings)
		}
	}
}

// A card draws its batches by a network from 65,536 declared records on, where the scheme
// draws subsets; an explicit choice stands.
func TestBatchesByDevice(t *testing.T) {
	stattest.SkipNumerics(t)
	for _, c := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"processor", Config{Records: 1 << 20, SamplingRate: 0.01}, sampler.Exact},
		{"card", Config{Records: 1 << 16, SamplingRate: 0.01, Card: true}, sampler.Feistel},
		{"card, fixed size", Config{Records: 1 << 16, SamplingRate: 0.01, Sampling: sampler.FixedSize, Neighbours: "substitute", Card: true}, sampler.Feistel},
		{"card, few records", Config{Records: 1<<16 - 1, SamplingRate: 0.01, Card: true}, sampler.Exact},
		{"card, every record", Config{Records: 1 << 20, SamplingRate: 1, Card: true}, ""},
		{"card, exact", Config{Records: 1 << 20, SamplingRate: 0.01, Card: true, Batches: sampler.Exact}, sampler.Exact},
		{"processor, feistel", Config{Records: 100, SamplingRate: 0.1, Batches: sampler.Feistel}, sampler.Feistel},
	} {
		c.cfg.Epsilon = 1
		p, err := New(normals(t, 3), c.cfg)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if p.Batches != c.want || p.Sampler().Batches != c.want {
			t.Errorf("%s: batches %q, the sampler's %q, want %q", c.name, p.Batches, p.Sampler().Batches, c.want)
		}
	}
	for want, cfg := range map[string]Config{
		"--batches: sampling balls_and_bins does not use it": {Records: 100, Epsilon: 1, Sampling: sampler.BallsAndBins, SamplingRate: 0.1, Batches: sampler.Feistel},
		"--batches: sampling full draws no subsets":          {Records: 100, Epsilon: 1, SamplingRate: 1, Batches: sampler.Feistel},
	} {
		if _, err := New(normals(t, 3), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
