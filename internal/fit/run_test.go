package fit_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/spec"
	"d3p/internal/privacy"
)

// At ε = 4 the private posterior of 4000 records is near the exact one: its
// location within 6.2 of its own total sds plus a tenth for what mean field and
// clipping add (P(|N(0,1)| > 6.2) < 1e-9), its total sds between 0.75 (mean
// field ignores correlations) and 3 times the exact ones.
func TestPrivateFitIsNearExactPosterior(t *testing.T) {
	s := newStudy(t, 4000)
	for _, cfg := range []plan.Config{
		{Epsilon: 4, Delta: 1e-6},
		{Epsilon: 4, Delta: 1e-6, SamplingRate: 0.2},
		{Epsilon: 4, Delta: 1e-6, Guide: "full_rank"},
	} {
		p := s.plan(t, cfg)
		result, err := fit.Run(context.Background(), p, s.curator(t, p, 11, privacy.Ledger{}), nil)
		if err != nil {
			t.Fatal(err)
		}
		post, ledger := result.Posterior, result.Spent
		if len(ledger.Entries) != 1 || ledger.Entries[0].Steps != p.Steps {
			t.Errorf("ledger %+v", ledger)
		}
		sd, share := make([]float64, 3), make([]float64, 3)
		post.SD(sd)
		post.NoiseShare(share)
		for j := range 3 {
			if d := math.Abs(post.Mean[j] - s.mode[j]); d > 6.2*sd[j]+0.1*s.sd[j] {
				t.Errorf("%+v: mean[%d] = %.4f, exact %.4f, total sd %.4f", cfg, j, post.Mean[j], s.mode[j], sd[j])
			}
			if sd[j] < 0.75*s.sd[j] || sd[j] > 3*s.sd[j] {
				t.Errorf("%+v: sd[%d] = %.4f, exact %.4f", cfg, j, sd[j], s.sd[j])
			}
			if want := cfg.NoiseAware == ""; (share[j] > 0) != want {
				t.Errorf("%+v: noise share %v", cfg, share)
			}
		}
	}
}

// The Python package's algorithm runs on the tape of the guide's parameters. At this
// ε and size its posterior, too, is near the exact one: within a third of a unit.
func TestVanillaGradients(t *testing.T) {
	s := newStudy(t, 4000)
	for name, cfg := range map[string]plan.Config{
		"fixed size": {Epsilon: 4, Delta: 1e-6, Compat: "d3p", LearningRate: 0.01, SamplingRate: 0.1, Steps: 1000},
		"poisson":    {Epsilon: 4, Delta: 1e-6, Compat: "d3p", LearningRate: 0.01, Sampling: "poisson", Neighbours: "add_remove", SamplingRate: 0.1, Steps: 1000},
	} {
		p := s.plan(t, cfg)
		result, err := fit.Run(context.Background(), p, s.curator(t, p, 11, privacy.Ledger{}), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		post, ledger := result.Posterior, result.Spent
		if ledger.Entries[0].Steps != p.Steps {
			t.Errorf("%s: ledger %+v", name, ledger)
		}
		for j := range 3 {
			if d := math.Abs(post.Mean[j] - s.mode[j]); d > 0.33 {
				t.Errorf("%s: mean[%d] = %.3f, exact %.3f", name, j, post.Mean[j], s.mode[j])
			}
		}
	}
}

func TestNonPrivateFitIsExact(t *testing.T) {
	s := newStudy(t, 1000)
	p := s.plan(t, plan.Config{NonPrivate: true})
	result, err := fit.Run(context.Background(), p, s.curator(t, p, 1, privacy.Ledger{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	post, ledger := result.Posterior, result.Spent
	if ledger.NotPrivate == "" {
		t.Error("the ledger does not say NOT PRIVATE")
	}
	for j := range 3 {
		if d := math.Abs(post.Mean[j]-s.mode[j]) / s.sd[j]; d > 0.1 {
			t.Errorf("mean[%d] is %.3f sd from the exact one", j, d)
		}
	}
}

// The releases at one θ vary with variance z²C² per coordinate: the sum of
// squares over T·P values is chi-square; |χ²/(TP−P) − 1| > 6.2·√(2/(TP−P)) has
// probability below 1e-8.
func TestReleasedNoiseHasPlannedVariance(t *testing.T) {
	s := newStudy(t, 500)
	p := s.plan(t, plan.Config{Epsilon: 1, Delta: 1e-6, Steps: 2000})
	m, err := p.Mechanism()
	if err != nil {
		t.Fatal(err)
	}
	session, err := s.curator(t, p, 3, privacy.Ledger{}).Begin(m)
	if err != nil {
		t.Fatal(err)
	}
	const clipNorm = 0.5
	theta, dst := make([]float64, 3), make([]float64, 3)
	var sum, square [3]float64
	var counts, countSquares float64
	for range p.Steps {
		release, err := session.Step(dst, privacy.StepRequest{Params: theta, ClipNorm: clipNorm})
		if err != nil {
			t.Fatal(err)
		}
		for j, x := range dst {
			sum[j] += x
			square[j] += x * x
		}
		counts += release.Count
		countSquares += release.Count * release.Count
	}
	n := float64(p.Steps)
	within := func(what string, variance, want, freedom float64) {
		if r := variance / want; math.Abs(r-1) > 6.2*math.Sqrt(2/freedom) {
			t.Errorf("variance of %s is %.4f of the planned", what, r)
		}
	}
	total := 0.0
	for j := range 3 {
		total += (square[j] - sum[j]*sum[j]/n) / (n - 1) / 3
	}
	planned := p.GradientNoise * clipNorm
	within("the gradient", total, planned*planned, 3*(n-1))
	if p.CountNoise > 0 {
		within("the count", (countSquares-counts*counts/n)/(n-1), p.CountNoise*p.CountNoise, n-1)
	}
}

// A mixture's components start apart, at a draw from their prior. Other models start
// at zero, and an explicit choice is kept.
func TestMixturesStartApart(t *testing.T) {
	const text = `d3p: 1
name: mixture
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 2000}
  columns:
    x: {type: real, lower: -9, upper: 9, scale: {center: 0, by: 1}, source: physics}
core:
  dims:
    k: 3
  params:
    w: dirichlet(1) [k]
    mu: normal(0, 3) [k]
    sigma: inverse_gamma(1, 1) [k]
  rows:
    observe:
      x: mixture(w, normal(mu, sigma), over=k)
privacy:
  neighbours: add_remove
`
	parsed, errs := spec.Parse("mixture.yaml", []byte(text), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	mixture, err := models.Compile(parsed)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m    *models.Model
		init string
		want string
	}{{mixture, "", "prior"}, {mixture, "zero", "zero"}, {newStudy(t, 100).model, "", "zero"}} {
		p, err := plan.New(c.m, plan.Config{Epsilon: 1, Init: c.init})
		if err != nil {
			t.Fatal(err)
		}
		if p.Init != c.want {
			t.Errorf("init %q of %s becomes %q, want %q", c.init, c.m.Name, p.Init, c.want)
		}
	}
}

// Over budget nothing is spent and there is no posterior.
func TestOverBudget(t *testing.T) {
	s := newStudy(t, 1000)
	p := s.plan(t, plan.Config{Epsilon: 1, Delta: 1e-6, Steps: 50})
	dearer := s.plan(t, plan.Config{Epsilon: 2, Delta: 1e-6, Steps: 50})
	var refused *privacy.BudgetError
	result, err := fit.Run(context.Background(), dearer, s.curator(t, p, 5, privacy.Ledger{}), nil)
	post, ledger := result.Posterior, result.Spent
	if !errors.As(err, &refused) || post != nil || len(ledger.Entries) != 0 {
		t.Errorf("posterior %v, ledger %+v, error %v", post, ledger, err)
	}
}

// BenchmarkRun is a whole private fit of 1000 steps of 4000 records with 3
// parameters, reading the file included.
func BenchmarkRun(b *testing.B) {
	s := newStudy(b, 4000)
	p := s.plan(b, plan.Config{Epsilon: 1, Delta: 1e-6})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := fit.Run(context.Background(), p, s.curator(b, p, 1, privacy.Ledger{}), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(4000*p.Steps*b.N)/b.Elapsed().Seconds(), "records/s")
}
