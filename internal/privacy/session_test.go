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
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
	"d3p/internal/privacy/schedule"
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

// With a schedule of the rates the batch of a step is drawn at the rate that its event has.
func TestBatchesFollowTheSchedule(t *testing.T) {
	const n, rate = 4000, 0.1
	var rows strings.Builder
	rows.WriteString("a,b,y\n")
	for range n {
		rows.WriteString("1,2,0\n")
	}
	engine := &fakeEngine{sum: []float64{0.5, -0.25}}
	cfg := config(t, engine)
	cfg.Table = tableAt(writeFile(t, "many.csv", rows.String()))
	m := mechanism(t, 5)
	m.Sampler, m.CountNoise = sampler.Config{Scheme: sampler.Poisson, Rate: rate}, 0
	m.Schedule = schedule.Factors{{Steps: 1, Factor: 2}, {Steps: 4, Factor: 3}}
	m.Rates = schedule.Factors{{Steps: 2, Factor: 0.5}, {Steps: 1, Factor: 2}, {Steps: 2, Factor: 10}}
	c := newCurator(t, cfg)
	s := begin(t, c, m)
	want := []event.Gaussian{{NoiseMultiplier: 28}, {NoiseMultiplier: 42}, {NoiseMultiplier: 42}, {NoiseMultiplier: 42}, {NoiseMultiplier: 42}}
	var paid []event.Event
	for step, q := range []float64{0.05, 0.05, 0.2, 1, 1} {
		if _, err := s.Step(make([]float64, 2), privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1}); err != nil {
			t.Fatal(err)
		}
		// P(more than 7 standard deviations) < 1e-11
		if got := float64(len(engine.batches[step])); q < 1 && math.Abs(got-n*q) > 7*math.Sqrt(n*q*(1-q)) || q == 1 && got != n && got != 0 {
			t.Errorf("step %d: a batch of %v records at rate %v of %v", step, got, q, n)
		}
		paid = append(paid, event.SelfComposed{Of: event.PoissonSampled{Rate: q, Of: want[step]}, Count: 1})
	}
	got, err := accountant.Epsilon(m.Event(5), event.AddRemove, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	each, err := accountant.Epsilon(event.Composed{Events: paid}, event.AddRemove, 1e-5)
	if err != nil || math.Abs(got.Estimate-each.Estimate) > 1e-6*each.Estimate {
		t.Errorf("epsilon %v, of the steps by themselves %v (%v)", got, each, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !event.Equal(c.Ledger().Event(), m.Event(5)) {
		t.Errorf("ledger %v, want %v", c.Ledger().Event(), m.Event(5))
	}
	if pieces := m.Event(5).(event.Composed).Events; len(pieces) != 4 {
		t.Errorf("%d pieces, want 4", len(pieces))
	}
}

// With a schedule the noise of a step is multiplied by its factor, that of the sum and that
// of the count, and the ledger has the noise multiplier of every step.
func TestNoiseFollowsTheSchedule(t *testing.T) {
	engine := &fakeEngine{sum: []float64{0.5, -0.25}, count: 1.5}
	m := mechanism(t, 4)
	m.Schedule = schedule.Factors{{Steps: 1, Factor: 2}, {Steps: 2, Factor: 3}, {Steps: 1, Factor: 0.5}}
	c := newCurator(t, config(t, engine))
	s := begin(t, c, m)
	dst := make([]float64, 2)
	var paid []event.Event
	for step, factor := range []float64{2, 3, 3, 0.5} {
		release, err := s.Step(dst, privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1})
		if err != nil {
			t.Fatal(err)
		}
		wider := factor * (1 + privacy.RoundingAllowance(1<<20, 2))
		if want := noisy(noise.GradientNoise, step, 14*wider, 0.5, -0.25); !cmp.Equal(dst, want) {
			t.Errorf("step %d: sum %g, want %g", step, dst, want)
		}
		if want := noisy(noise.CountNoise, step, 40*wider, 1.5+(0.5-0.75)*float64(engine.records))[0]; release.Count != want {
			t.Errorf("step %d: count %g, want %g", step, release.Count, want)
		}
		one := m
		one.Steps, one.Schedule, one.GradientNoise, one.CountNoise = 1, nil, factor*m.GradientNoise, factor*m.CountNoise
		paid = append(paid, one.Event(1))
		got, err := accountant.Epsilon(c.Ledger().Event(), event.AddRemove, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		want, err := accountant.Epsilon(event.Composed{Events: paid}, event.AddRemove, 1e-6)
		if err != nil || math.Abs(got.Upper/want.Upper-1) > 1e-4 {
			t.Errorf("after step %d the ledger costs %v, its steps %v, %v", step, got.Upper, want.Upper, err)
		}
	}
}

// pureNoise is the first step of a mechanism of two parameters whose sums are 0: the
// gradient, then the count.
func pureNoise() []float64 {
	wider := 1 + privacy.RoundingAllowance(1<<20, 2)
	return append(noisy(noise.GradientNoise, 0, 14*wider, 0, 0), noisy(noise.CountNoise, 0, 40*wider, 0)...)
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
	if got, want := []float64{dst[0], dst[1], release.Count}, pureNoise(); !cmp.Equal(got, want) {
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
	if strings.Contains(over.Error(), "--") {
		t.Errorf("%v names a flag, which only commands have", over)
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

// Each record's own draws come from a separate stream: if they shared the stream of the
// sum's noise, gradients would reveal that noise.
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
	if got, want := []float64{dst[0], dst[1], release.Count}, pureNoise(); !cmp.Equal(got, want) {
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
