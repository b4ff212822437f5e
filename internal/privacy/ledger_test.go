package privacy_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
)

func TestEpsilonSpent(t *testing.T) {
	cfg := config(t, &fakeEngine{sum: []float64{0, 0}})
	cfg.Root, _ = noise.System()
	const steps = 37
	m := mechanism(t, steps)
	m.GradientNoise, m.CountNoise = 28, 0
	s := begin(t, newCurator(t, cfg), m)
	before := 0.0
	for t0 := 1; t0 <= steps; t0++ {
		if _, err := s.Step(make([]float64, 2), privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1}); err != nil {
			t.Fatal(err)
		}
		truth, err := accountant.Epsilon(m.Event(t0), event.AddRemove, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		spent := s.EpsilonSpent()
		if spent < truth.Lower || spent < before || spent > 1 {
			t.Errorf("after %d steps: %g spent, truth %g, before %g", t0, spent, truth.Estimate, before)
		}
		later, err := accountant.Epsilon(m.Event(t0+steps/20+1), event.AddRemove, 1e-5)
		if err != nil || spent > later.Upper {
			t.Errorf("after %d steps: %g spent, more than %g of a twentieth later (%v)", t0, spent, later.Upper, err)
		}
		before = spent
	}
}

func TestLedgerRoundTrip(t *testing.T) {
	c := newCurator(t, config(t, &fakeEngine{sum: []float64{0, 0}}))
	s := begin(t, c, mechanism(t, 5))
	for range 3 {
		if _, err := s.Step(make([]float64, 2), privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1}); err != nil {
			t.Fatal(err)
		}
	}
	want := c.Ledger()
	if e := want.Entries[0]; e.Steps != 3 || e.Authorised != 5 || !cmp.Equal(e.Event, mechanism(t, 5).Event(3)) {
		t.Errorf("entry %+v, want 3 of 5 steps", e)
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got privacy.Ledger
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("after JSON (-want +got):\n%s", d)
	}
}

// The ledger keeps the spending of a run whose session cannot go on: a lost device gives
// nothing back.
func TestFailedResumeKeepsTheLedger(t *testing.T) {
	engine := &fakeEngine{sum: []float64{0, 0}}
	cfg := config(t, engine)
	s := begin(t, newCurator(t, cfg), mechanism(t, 10))
	if _, err := s.Step(make([]float64, 2), privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1}); err != nil {
		t.Fatal(err)
	}
	cfg.Spent = s.Ledger()
	engine.lost = errors.New("device lost")
	c := newCurator(t, cfg)
	_, err := c.Resume(mechanism(t, 10), 1)
	mustContain(t, err, "device lost")
	if d := cmp.Diff(cfg.Spent, c.Ledger()); d != "" {
		t.Errorf("after a failure to resume the ledger is another (-want +got):\n%s", d)
	}
}

// A resumed session goes on with the next step's noise, and cannot reset what
// was spent.
func TestResume(t *testing.T) {
	req := privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1}
	cfg := config(t, &fakeEngine{sum: []float64{0, 0}})
	whole := begin(t, newCurator(t, cfg), mechanism(t, 10))
	want, got := make([]float64, 2), make([]float64, 2)
	for range 4 {
		if _, err := whole.Step(want, req); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Spent = whole.Ledger()
	if _, err := whole.Step(want, req); err != nil {
		t.Fatal(err)
	}

	c := newCurator(t, cfg)
	if _, err := c.Resume(mechanism(t, 10), 3); err == nil {
		t.Error("resumed with fewer steps than the ledger has")
	}
	if _, err := c.Resume(mechanism(t, 9), 4); err == nil {
		t.Error("resumed another mechanism")
	}
	s, err := c.Resume(mechanism(t, 10), 4)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Step(got, req); err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(want, got) {
		t.Errorf("step 5 after resuming gives %g, without stopping %g", got, want)
	}
	if l := s.Ledger(); len(l.Entries) != 1 || l.Entries[0].Steps != 5 {
		t.Errorf("ledger %+v, want one entry of 5 steps", l)
	}
}

// A resumed session has other batches: within an epoch that was begun before, a
// record could come a second time. So the rest of that epoch is noise alone.
func TestResumeWithinAnEpoch(t *testing.T) {
	const batches, done = 5, 2
	req := privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1}
	m := mechanism(t, 2*batches)
	m.Sampler = sampler.Config{Scheme: "balls_and_bins", Rate: 1. / batches, PublicN: 4}
	run := func(s *privacy.Session, steps int) {
		for range steps {
			if _, err := s.Step(make([]float64, 2), req); err != nil {
				t.Fatal(err)
			}
		}
	}
	engine := &fakeEngine{sum: []float64{0, 0}}
	cfg := config(t, engine)
	stopped := begin(t, newCurator(t, cfg), m)
	run(stopped, done)
	cfg.Spent, cfg.Root = stopped.Ledger(), noise.Insecure(2)
	resumed, err := newCurator(t, cfg).Resume(m, done)
	if err != nil {
		t.Fatal(err)
	}
	run(resumed, 2*batches-done)
	records := 0
	for step, batch := range engine.batches {
		if step >= done && step < batches && len(batch) > 0 {
			t.Errorf("step %d, of an epoch begun before, has %d records", step, len(batch))
		}
		if step >= batches {
			records += len(batch)
		}
	}
	if records != engine.records {
		t.Errorf("the next epoch has %d of %d records", records, engine.records)
	}
}
