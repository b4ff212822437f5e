package privacy_test

import (
	"errors"
	"math"
	"testing"

	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
	"d3p/internal/privacy/schedule"
)

// The joint release of sum and count is one Gaussian: moving along any direction
// of the sphere in (sum/C, count/s) costs at most 1/σ. Here the direction is the
// gradient of the quadratic form, the worst case.
func TestNoiseMultiplierIsJoint(t *testing.T) {
	m := mechanism(t, 1)
	sum, count := 1.0, 0.75 // the most that one record moves each, with C = 1
	mu := math.Hypot(sum/m.GradientNoise, count/m.CountNoise)
	if got := m.NoiseMultiplier(); math.Abs(got*mu-1) > 1e-15 {
		t.Errorf("noise multiplier %g, want %g", got, 1/mu)
	}
	m.CountTarget = 0.1 // now a record outside C moves the count least, one within C most
	if got, want := m.NoiseMultiplier(), 1/math.Hypot(sum/m.GradientNoise, 0.9/m.CountNoise); math.Abs(got/want-1) > 1e-15 {
		t.Errorf("noise multiplier %g, want %g", got, want)
	}
	m.CountNoise = 0
	if got := m.NoiseMultiplier(); got != m.GradientNoise {
		t.Errorf("noise multiplier %g without a count, want %g", got, m.GradientNoise)
	}
}

func TestMechanismsThatAreNotPrivateAreRefused(t *testing.T) {
	c := newCurator(t, config(t, &fakeEngine{sum: []float64{0, 0}}))
	for name, change := range map[string]func(*privacy.Mechanism){
		"no clipping":         func(m *privacy.Mechanism) { m.Clip.Kind = privacy.Unclipped },
		"no kind of clipping": func(m *privacy.Mechanism) { m.Clip = privacy.Clip{} },
		"gamma zero":          func(m *privacy.Mechanism) { m.Clip.Kind = privacy.Automatic },
		"gamma infinite":      func(m *privacy.Mechanism) { m.Clip = privacy.Clip{Kind: privacy.Automatic, Gamma: math.Inf(1)} },
		"gamma next to zero":  func(m *privacy.Mechanism) { m.Clip = privacy.Clip{Kind: privacy.Automatic, Gamma: 1e-200} },
		"no bound of batches": func(m *privacy.Mechanism) { m.BatchBound = 0 },
		"no noise":            func(m *privacy.Mechanism) { m.GradientNoise = 0 },
		"noise NaN":           func(m *privacy.Mechanism) { m.GradientNoise = math.NaN() },
		"noise too fine":      func(m *privacy.Mechanism) { m.GradientNoise = 1. / 65 },
		"noise infinite":      func(m *privacy.Mechanism) { m.GradientNoise = math.Inf(1) },
		"count noise small":   func(m *privacy.Mechanism) { m.CountNoise = 1e-6 },
		"negative count":      func(m *privacy.Mechanism) { m.CountNoise = -1 },
		"count target one":    func(m *privacy.Mechanism) { m.CountTarget = 1 },
		"count target zero":   func(m *privacy.Mechanism) { m.CountTarget = 0 },
		"rate above one":      func(m *privacy.Mechanism) { m.Sampler = sampler.Config{Scheme: "poisson", Rate: 1.5} },
		"schedule too short":  func(m *privacy.Mechanism) { m.Schedule = schedule.Factors{{Steps: 2, Factor: 2}} },
		"factor of zero":      func(m *privacy.Mechanism) { m.Schedule = schedule.Factors{{Steps: 1, Factor: 0}} },
		"too fine by factor": func(m *privacy.Mechanism) {
			m.GradientNoise, m.Schedule = 1./32, schedule.Factors{{Steps: 1, Factor: 0.4}}
		},
		"rate above one by factor": func(m *privacy.Mechanism) {
			m.Sampler, m.Rates = sampler.Config{Scheme: "poisson", Rate: 0.5}, schedule.Factors{{Steps: 1, Factor: 2.1}}
		},
		"rates too short": func(m *privacy.Mechanism) {
			m.Sampler, m.Rates = sampler.Config{Scheme: "poisson", Rate: 0.5}, schedule.Factors{{Steps: 2, Factor: 1}}
		},
		"rates of a size": func(m *privacy.Mechanism) {
			m.Sampler, m.Rates = sampler.Config{Scheme: "poisson", BatchSize: 2, PublicN: 4}, schedule.Factors{{Steps: 1, Factor: 0.5}}
		},
		"rates of fixed sizes": func(m *privacy.Mechanism) {
			m.Sampler, m.Rates = sampler.Config{Scheme: "fixed_size", Rate: 0.5, PublicN: 4}, schedule.Factors{{Steps: 1, Factor: 0.5}}
		},
		"schedule in an epoch": func(m *privacy.Mechanism) {
			m.Sampler = sampler.Config{Scheme: "balls_and_bins", BatchSize: 2, PublicN: 4}
			m.Schedule = schedule.Factors{{Steps: 1, Factor: 2}}
		},
		"no steps": func(m *privacy.Mechanism) { m.Steps = 0 },
		"no tape":  func(m *privacy.Mechanism) { m.Tape = nil },
	} {
		m := mechanism(t, 1)
		change(&m)
		if _, err := c.Begin(m); err == nil || errors.As(err, new(*privacy.BudgetError)) {
			t.Errorf("%s: error %v, want one whatever the budget", name, err)
		}
	}
	automatic := mechanism(t, 1)
	automatic.Clip = privacy.Clip{Kind: privacy.Automatic, Gamma: 0.01}
	if err := begin(t, c, automatic).Close(); err != nil {
		t.Error(err)
	}

	under := config(t, &fakeEngine{sum: []float64{0, 0}})
	under.Relation = event.Substitute
	m := mechanism(t, 1)
	m.Sampler = sampler.Config{Scheme: "balls_and_bins", BatchSize: 2, PublicN: 4}
	_, err := newCurator(t, under).Begin(m)
	mustContain(t, err, "balls_and_bins", "substitute")
	under.Relation = event.ZeroOut
	m.Sampler = sampler.Config{Scheme: "shuffle", BatchSize: 2, PublicN: 4}
	_, err = newCurator(t, under).Begin(m)
	mustContain(t, err, "count", "zero_out")
	m.CountNoise = 0
	begin(t, newCurator(t, under), m)

	s := begin(t, c, mechanism(t, 1))
	for _, norm := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-300, 1e300} {
		if _, err := s.Step(make([]float64, 2), privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: norm}); err == nil {
			t.Errorf("clip norm %g: accepted", norm)
		}
	}
	if s.StepsDone() != 0 {
		t.Error("a refused step was charged")
	}
}

func TestNonPrivateMarksTheLedger(t *testing.T) {
	cfg := config(t, &fakeEngine{sum: []float64{0.5, -0.25}})
	var err error
	if cfg.Root, err = noise.System(); err != nil {
		t.Fatal(err)
	}
	c := newCurator(t, cfg)
	if c.Ledger().NotPrivate != "" {
		t.Error("a curator with a secret root is marked not private")
	}
	m := mechanism(t, 3)
	for name, of := range map[string]privacy.Mechanism{
		"clipping":       {Clip: privacy.Clip{Kind: privacy.Flat}},
		"gradient noise": {Clip: privacy.Clip{Kind: privacy.Unclipped}, GradientNoise: 14},
		"count noise":    {Clip: privacy.Clip{Kind: privacy.Unclipped}, CountNoise: 40},
	} {
		m.Clip, m.GradientNoise, m.CountNoise = of.Clip, of.GradientNoise, of.CountNoise
		if _, err := c.BeginNonPrivate(m); err == nil || c.Ledger().NotPrivate != "" {
			t.Errorf("a session with %s began as one that is not private: %v", name, err)
		}
	}
	m.Clip.Kind, m.GradientNoise, m.CountNoise = privacy.Unclipped, 0, 0
	s, err := c.BeginNonPrivate(m)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, 2)
	if _, err := s.Step(dst, privacy.StepRequest{Params: []float64{0, 0}}); err != nil {
		t.Fatal(err)
	}
	if dst[0] != 0.5 || dst[1] != -0.25 || !math.IsInf(s.EpsilonSpent(), 1) {
		t.Errorf("sum %g, epsilon %g, want the exact sum and no guarantee", dst, s.EpsilonSpent())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	l := c.Ledger()
	if _, ok := l.Event().(event.NonPrivate); !ok || l.NotPrivate == "" {
		t.Errorf("ledger %+v, want it marked", l)
	}
	if _, err := c.Begin(mechanism(t, 1)); err == nil {
		t.Error("a private session was certified after one that is not")
	}
	if insecure := newCurator(t, config(t, nil)).Ledger(); insecure.NotPrivate == "" {
		t.Error("an insecure root does not mark the ledger")
	}
}
