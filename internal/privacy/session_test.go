package privacy_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
)

// noisy is x plus noise of standard deviation sigma, as step `step` of the first
// session of noise.Insecure(1) draws it.
func noisy(p noise.Purpose, step int, sigma float64, x ...float64) []float64 {
	s := noise.Insecure(1).Child(0).Stream(p)
	s.Seek(uint64(step))
	s.AddGaussian(x, sigma)
	return x
}

func TestStepAddsNoiseToTheSum(t *testing.T) {
	engine := &fakeEngine{sum: []float64{0.5, -0.25}, count: 1.5}
	s := begin(t, newCurator(t, config(t, engine)), mechanism(t, 10))
	dst := make([]float64, 2)
	for step, c := range []float64{1, 0.1} {
		release, err := s.Step(dst, privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: c})
		if err != nil {
			t.Fatal(err)
		}
		if want := noisy(noise.GradientNoise, step, 14*c*(1+privacy.RoundingAllowance(1<<20, 2)), 0.5, -0.25); !cmp.Equal(dst, want) {
			t.Errorf("step %d: sum %g, want %g", step, dst, want)
		}
		if want := noisy(noise.CountNoise, step, 40*(1+privacy.RoundingAllowance(1<<20, 2)), 1.5+(0.5-0.75)*float64(engine.records))[0]; release.Count != want {
			t.Errorf("step %d: count %g, want %g", step, release.Count, want)
		}
		if got := engine.clips[step]; got.Norm != c || got.Kind != privacy.Flat {
			t.Errorf("step %d: the engine clipped with %+v", step, got)
		}
	}
}

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

func TestEmptyBatchIsPureNoise(t *testing.T) {
	m := mechanism(t, 5)
	m.Sampler = sampler.Config{Scheme: "poisson", Rate: 1e-3}
	s := begin(t, newCurator(t, config(t, &fakeEngine{sum: []float64{7, 7}, count: 2})), m)
	dst := []float64{9, 9}
	release, err := s.Step(dst, privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := append(noisy(noise.GradientNoise, 0, 14*(1+privacy.RoundingAllowance(1<<20, 2)), 0, 0), noisy(noise.CountNoise, 0, 40*(1+privacy.RoundingAllowance(1<<20, 2)), 0)...)
	if got := []float64{dst[0], dst[1], release.Count}; !cmp.Equal(got, want) {
		t.Errorf("an empty batch gives %g, want %g", got, want)
	}
}

func TestBudgetIsCertifiedBeforeTheFirstStep(t *testing.T) {
	engine := &fakeEngine{sum: []float64{0, 0}}
	c := newCurator(t, config(t, engine))
	_, err := c.Begin(mechanism(t, 20))
	var over *privacy.BudgetError
	if !errors.As(err, &over) || !(over.Needs > 1) {
		t.Fatalf("20 steps: error %v, want a *BudgetError", err)
	}
	if len(c.Ledger().Entries) != 0 || len(engine.clips) != 0 {
		t.Error("a refused mechanism was charged or run")
	}
	begin(t, c, mechanism(t, 10))
	if c.Ledger().Entries[0].Authorised != 10 {
		t.Errorf("ledger %+v, want 10 authorised steps", c.Ledger())
	}
}

// Earlier runs and earlier sessions count against the same budget.
func TestBudgetComposes(t *testing.T) {
	cfg := config(t, &fakeEngine{sum: []float64{0, 0}})
	c := newCurator(t, cfg)
	s := begin(t, c, mechanism(t, 7))
	for range 7 {
		if _, err := s.Step(make([]float64, 2), privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := c.Begin(mechanism(t, 10))
	mustContain(t, err, "spent before")
	cfg.Spent = c.Ledger()
	_, err = newCurator(t, cfg).Begin(mechanism(t, 10))
	mustContain(t, err, "spent before")
	begin(t, c, mechanism(t, 3))
}

func TestNoMoreStepsThanAuthorised(t *testing.T) {
	engine := &fakeEngine{sum: []float64{0, 0}}
	s := begin(t, newCurator(t, config(t, engine)), mechanism(t, 2))
	req := privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1}
	dst := make([]float64, 2)
	for range 2 {
		if _, err := s.Step(dst, req); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Step(dst, req)
	var over *privacy.StepsError
	if !errors.As(err, &over) || len(engine.clips) != 2 {
		t.Errorf("a third step: error %v, %d calls of the engine", err, len(engine.clips))
	}
}

// A closed session gives nothing, and charges nothing.
func TestClosedSession(t *testing.T) {
	engine := &fakeStepper{fakeEngine: fakeEngine{sum: []float64{0, 0}}}
	s := begin(t, newCurator(t, config(t, engine)), mechanism(t, 2))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Step(make([]float64, 2), privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1})
	mustContain(t, err, "closed")
	_, err = s.Steps([]float64{1}, nil, nil, 1)
	mustContain(t, err, "closed")
	if s.StepsDone() != 0 || engine.closed != 1 {
		t.Errorf("%d steps charged, the engine closed %d times, want 0 and once", s.StepsDone(), engine.closed)
	}
}

// What records draw for themselves has a stream of its own: shared with the noise
// of the sum, it would tell that noise to the gradients.
func TestRecordNoiseIsItsOwn(t *testing.T) {
	b := graph.NewBuilder()
	tape, err := graph.Compile(b, b.Mul(b.Aux("eta", nil, true), b.Mul(b.Column(0), b.Param("w", nil))), nil, graph.Options{GradientOnly: true, Columns: 3})
	if err != nil {
		t.Fatal(err)
	}
	engine := &fakeStepper{fakeEngine: fakeEngine{sum: []float64{0}}, takes: 1}
	m := mechanism(t, 2)
	m.Tape = tape
	s := begin(t, newCurator(t, config(t, engine)), m)
	if _, err := s.Step(make([]float64, 1), privacy.StepRequest{Params: []float64{0}, ClipNorm: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Steps([]float64{1}, nil, nil, 1); err != nil {
		t.Fatal(err)
	}
	for _, stream := range []*noise.Stream{engine.in.RecordNoise, engine.got.RecordNoise} {
		if stream == nil || stream.Key() != noise.Insecure(1).Child(0).Stream(noise.RecordNoise).Key() {
			t.Errorf("records draw from %v, want the stream of %v", stream, noise.RecordNoise)
		}
	}
}

// A failing engine may have looked at records: the step stays charged, and what
// it wrote does not leave.
func TestEngineFailure(t *testing.T) {
	engine := &fakeEngine{sum: []float64{3, 3}, count: 2, err: errors.New("device lost")}
	s := begin(t, newCurator(t, config(t, engine)), mechanism(t, 2))
	dst := []float64{5, 5}
	release, err := s.Step(dst, privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1})
	mustContain(t, err, "device lost")
	if dst[0] != 0 || dst[1] != 0 || release.Count != 0 || s.StepsDone() != 1 {
		t.Errorf("after a failure: sum %g, count %g, %d steps charged", dst, release.Count, s.StepsDone())
	}
}

// Not even a defect of the engine becomes an event.
func TestEngineWithoutBounds(t *testing.T) {
	engine := &fakeEngine{sum: []float64{math.NaN(), math.Inf(1)}, count: math.NaN()}
	s := begin(t, newCurator(t, config(t, engine)), mechanism(t, 2))
	dst := make([]float64, 2)
	release, err := s.Step(dst, privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := append(noisy(noise.GradientNoise, 0, 14*(1+privacy.RoundingAllowance(1<<20, 2)), 0, 0), noisy(noise.CountNoise, 0, 40*(1+privacy.RoundingAllowance(1<<20, 2)), 0)...)
	if got := []float64{dst[0], dst[1], release.Count}; !cmp.Equal(got, want) {
		t.Errorf("a sum that is not finite gives %g, want noise %g", got, want)
	}
}

// Two sessions on one data set must not share noise: their difference would be
// exact.
func TestSessionsDoNotShareNoise(t *testing.T) {
	c := newCurator(t, config(t, &fakeEngine{sum: []float64{0, 0}}))
	var first [2][2]float64
	for k := range first {
		s := begin(t, c, mechanism(t, 1))
		if _, err := c.Begin(mechanism(t, 1)); err == nil {
			t.Fatal("two sessions are open at once")
		}
		if _, err := s.Step(first[k][:], privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if first[0] == first[1] {
		t.Error("the second session repeats the noise of the first")
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
		"no steps":            func(m *privacy.Mechanism) { m.Steps = 0 },
		"no tape":             func(m *privacy.Mechanism) { m.Tape = nil },
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

func TestPrintingShowsNoRecord(t *testing.T) {
	cfg := config(t, &fakeEngine{sum: []float64{0, 0}})
	c := newCurator(t, cfg)
	s := begin(t, c, mechanism(t, 1))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		if text := fmt.Sprintf(verb+" "+verb+" "+verb, c, s, cfg.Table); strings.ContainsAny(text, "0123456789") || strings.Count(text, "(secret)") != 3 {
			t.Errorf("%s prints %q", verb, text)
		}
	}
}
