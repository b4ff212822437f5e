package fit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/fit/fittest"
	"d3p/internal/fit/plan"
	"d3p/internal/privacy"
)

// stopAt cancels after a number of steps.
type stopAt struct {
	step   int
	cancel context.CancelFunc
	spent  float64
}

func (s *stopAt) Step(t, _ int, epsilonSpent func() float64) {
	if t == s.step {
		s.spent = epsilonSpent()
		s.cancel()
	}
}

// A stopped fit reports what was spent. Resumed, it gives the same numbers and the
// same ledger as one without interruption. So does one that was stopped while its posterior was computed.
func TestStopAndResume(t *testing.T) {
	s := newStudy(t, 1000)
	cfg := plan.Config{Epsilon: 1, Delta: 1e-6, SamplingRate: 0.3, Steps: 200}
	p := s.plan(t, cfg)
	whole, err := fit.Run(context.Background(), p, s.curator(t, p, 5, privacy.Ledger{}), nil)
	if err != nil {
		t.Fatal(err)
	}

	for _, step := range []int{120, 200} {
		ctx, cancel := context.WithCancel(context.Background())
		stop := &stopAt{step: step, cancel: cancel}
		result, err := fit.Run(ctx, p, s.curator(t, p, 5, privacy.Ledger{}), stop)
		if !errors.Is(err, fit.ErrStopped) || result.Posterior != nil {
			t.Fatalf("error %v, want ErrStopped; posterior %v", err, result.Posterior)
		}
		// The curator's noise has a known seed here, so it claims no ε at all.
		if ledger := result.Spent; ledger.Entries[0].Steps != step || !math.IsInf(stop.spent, 1) {
			t.Errorf("stopped after step %d: ledger %+v, spent %v", step, ledger, stop.spent)
		}
		resumesTo(t, s, p, checkpointFile(t, result), whole)
	}
}

// checkpointFile is the checkpoint of a stopped fit as a file.
func checkpointFile(t *testing.T, result fit.Result) *bytes.Buffer {
	t.Helper()
	checkpoint, err := result.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	file := new(bytes.Buffer)
	if err := checkpoint.Write(file); err != nil {
		t.Fatal(err)
	}
	return file
}

// A fit that was stopped before its first step is one mechanism when it is resumed: a
// second entry without steps would make another event than the plan's.
func TestStopBeforeTheFirstStep(t *testing.T) {
	s := newStudy(t, 200)
	p := s.plan(t, plan.Config{Epsilon: 1, Delta: 1e-6, SamplingRate: 0.3, Steps: 20})
	whole, err := fit.Run(context.Background(), p, s.curator(t, p, 5, privacy.Ledger{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	result, err := fit.Run(ctx, p, s.curator(t, p, 5, privacy.Ledger{}), nil)
	if !errors.Is(err, fit.ErrStopped) {
		t.Fatalf("error %v, want ErrStopped", err)
	}
	resumesTo(t, s, p, checkpointFile(t, result), whole)
}

// A checkpoint that a running fit wrote, as a killed fit leaves it, continues to the
// same end.
func TestKeptCheckpoint(t *testing.T) {
	s := newStudy(t, 1000)
	p := s.plan(t, plan.Config{Epsilon: 1, Delta: 1e-6, SamplingRate: 0.3, Steps: 200})
	keeper := &keepAt{step: 150}
	whole, err := fit.Run(context.Background(), p, s.curator(t, p, 5, privacy.Ledger{}), keeper)
	if err != nil || keeper.err != nil {
		t.Fatal(err, keeper.err)
	}
	resumesTo(t, s, p, &keeper.file, whole)
}

// resumesTo checks that the checkpoint in file continues to the posterior and the
// ledger of a fit without interruption.
func resumesTo(t *testing.T, s *study, p *plan.Plan, file *bytes.Buffer, whole fit.Result) {
	t.Helper()
	restored, err := fit.ReadCheckpoint(file)
	if err != nil {
		t.Fatal(err)
	}
	var spent privacy.Ledger
	if err := json.Unmarshal(restored.Ledger, &spent); err != nil {
		t.Fatal(err)
	}
	if steps := spent.Entries[0].Steps; steps < restored.State.Step || steps > restored.State.Step+1 || steps > p.Steps {
		t.Fatalf("checkpoint of step %d with %d steps charged", restored.State.Step, steps)
	}
	again, err := fit.Resume(context.Background(), restored, s.model, s.curator(t, p, 5, spent), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, want := again.Posterior, whole.Posterior
	for j := range want.Mean {
		if want.Mean[j] != got.Mean[j] || want.VarDP[j] != got.VarDP[j] {
			t.Fatalf("resumed %v %v, want %v %v", got.Mean, got.VarDP, want.Mean, want.VarDP)
		}
	}
	if len(again.Spent.Entries) != 1 || again.Spent.Entries[0].Steps != whole.Spent.Entries[0].Steps {
		t.Errorf("ledger after resuming %+v, want %+v", again.Spent, whole.Spent)
	}
}

// keepAt saves the checkpoint after one step.
type keepAt struct {
	step, now int
	file      bytes.Buffer
	err       error
}

func (k *keepAt) Step(t, _ int, _ func() float64) { k.now = t }

func (k *keepAt) Keep(checkpoint func() (fit.Checkpoint, error), now bool) {
	if k.now != k.step && !now {
		return
	}
	c, err := checkpoint()
	k.err = errors.Join(err, c.Write(&k.file))
}

// panicsAt is a keeper that panics after a step.
type panicsAt struct {
	keepAt
	at int
}

func (p *panicsAt) Step(t, _ int, _ func() float64) {
	if t == p.at {
		panic("a mistake")
	}
}

// A panic keeps the steps so far.
func TestPanicKeepsCheckpoint(t *testing.T) {
	s := newStudy(t, 1000)
	p := s.plan(t, plan.Config{Epsilon: 1, Delta: 1e-6, SamplingRate: 0.3, Steps: 200})
	whole, err := fit.Run(context.Background(), p, s.curator(t, p, 5, privacy.Ledger{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	keeper := &panicsAt{at: 120, keepAt: keepAt{step: -1}}
	func() {
		defer func() {
			if recover() != "a mistake" {
				t.Error("the panic ended in the fit")
			}
		}()
		fit.Run(context.Background(), p, s.curator(t, p, 5, privacy.Ledger{}), keeper)
	}()
	resumesTo(t, s, p, &keeper.file, whole)
}

// A fit whose engine fails continues from the step that failed, which released nothing.
func TestResumeAfterTheEngineFailed(t *testing.T) {
	resumesAfterFailure(t, plan.Config{Epsilon: 1, Delta: 1e-6, SamplingRate: 0.3, Steps: 200})
}

// So does a fit whose noise has a schedule: a piece ends before the failure, one after it.
func TestResumeWithinASchedule(t *testing.T) {
	resumesAfterFailure(t, plan.Config{Epsilon: 1, Delta: 1e-6, SamplingRate: 0.3, Steps: 200, NoiseSchedule: "2@0,1@0.3,0.7@0.7"})
}

func resumesAfterFailure(t *testing.T, cfg plan.Config) {
	s := newStudy(t, 1000)
	p := s.plan(t, cfg)
	whole, err := fit.Run(context.Background(), p, s.curator(t, p, 5, privacy.Ledger{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := s.curatorOf(t, p, 5, privacy.Ledger{}, fittest.FailsAt{Engine: cpu.New(cpu.Options{Threads: 1}), Step: 120})
	result, err := fit.Run(context.Background(), p, c, nil)
	var failed *privacy.EngineError
	if !errors.As(err, &failed) {
		t.Fatalf("error %v, want an EngineError", err)
	}
	if steps := result.Spent.Entries[0].Steps; steps != 121 {
		t.Errorf("%d steps charged, want the failed one too: 121", steps)
	}
	resumesTo(t, s, p, checkpointFile(t, result), whole)
}
