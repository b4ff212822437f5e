package privacy_test

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
	"d3p/internal/privacy/schedule"
)

// fakeStepper takes `takes` of the steps that it is asked for.
type fakeStepper struct {
	fakeEngine
	takes   int
	refuses error
	got     privacy.StepsInput
}

func (e *fakeStepper) Open(t *graph.Tape, rows *privacy.Rows) (privacy.Worker, error) {
	_, err := e.fakeEngine.Open(t, rows)
	return e, err
}

func (e *fakeStepper) Prepare(privacy.Postprocessing) error { return e.refuses }

func (e *fakeStepper) Steps(in privacy.StepsInput) (int, error) {
	e.got = in
	for _, x := range [][]float64{in.State, in.Kept} {
		for i := range x {
			x[i] = 3
		}
	}
	return e.takes, e.err
}

func poissonMechanism(t *testing.T, steps int) privacy.Mechanism {
	m := mechanism(t, steps)
	m.Sampler = sampler.Config{Scheme: "poisson", Rate: 0.5}
	return m
}

// An engine has one noise for all steps of a call, so a mechanism with a schedule is taken
// step by step.
func TestNoManyStepsWithASchedule(t *testing.T) {
	m := mechanism(t, 2)
	m.Schedule = schedule.Factors{{Steps: 1, Factor: 2}, {Steps: 1, Factor: 1}}
	s := begin(t, newCurator(t, config(t, &fakeStepper{takes: 2})), m)
	if err := s.Prepare(privacy.Postprocessing{}); err != privacy.ErrNotStepping {
		t.Errorf("Prepare: %v", err)
	}
	if done, err := s.Steps([]float64{1}, nil, nil, 2); done != 0 || err != privacy.ErrNotStepping || s.StepsDone() != 0 {
		t.Errorf("%d steps, error %v, %d charged", done, err, s.StepsDone())
	}
}

// An engine that takes no more steps by itself took none: nothing is charged, the state
// is whose it was, and single steps go on.
func TestStepsEnd(t *testing.T) {
	e := &fakeStepper{fakeEngine: fakeEngine{sum: []float64{0, 0}, err: privacy.ErrNotStepping}}
	s := begin(t, newCurator(t, config(t, e)), mechanism(t, 2))
	state := []float64{1}
	if done, err := s.Steps(state, nil, nil, 2); done != 0 || err != privacy.ErrNotStepping || s.StepsDone() != 0 || state[0] == 0 {
		t.Errorf("%d steps, error %v, %d charged, state %v", done, err, s.StepsDone(), state)
	}
	e.err = nil
	for range 2 {
		if _, err := s.Step(make([]float64, 2), privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1}); err != nil {
			t.Fatal(err)
		}
	}
}

// Several steps draw the batches and the noise that as many single ones draw.
func TestStepsDrawWhatStepDraws(t *testing.T) {
	single := &fakeEngine{sum: []float64{0, 0}}
	s := begin(t, newCurator(t, config(t, single)), poissonMechanism(t, 10))
	for range 5 {
		if _, err := s.Step(make([]float64, 2), privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1}); err != nil {
			t.Fatal(err)
		}
	}
	e := &fakeStepper{takes: 4}
	s = begin(t, newCurator(t, config(t, e)), poissonMechanism(t, 10))
	if _, err := s.Step(make([]float64, 2), privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(privacy.Postprocessing{}); err != nil {
		t.Fatal(err)
	}
	if done, err := s.Steps([]float64{1}, make([]float64, 4), []float64{5, 6, 7, 8}, 4); done != 4 || err != nil || s.StepsDone() != 5 {
		t.Fatalf("%d steps done, %d charged: %v", done, s.StepsDone(), err)
	}
	for k := range 4 {
		batch, _ := e.got.Draw(k%e.got.Threads, 1+k, nil)
		if !cmp.Equal(append([]uint32{}, batch...), append([]uint32{}, single.batches[1+k]...)) {
			t.Errorf("step %d: batch %v, want %v", 1+k, batch, single.batches[1+k])
		}
	}
	for p, stream := range map[noise.Purpose]*noise.Stream{noise.GradientNoise: e.got.Sum, noise.CountNoise: e.got.Count} {
		if stream.Key() != noise.Insecure(1).Child(0).Stream(p).Key() {
			t.Errorf("another stream than that of %v", p)
		}
	}
	if e.got.First != 1 || e.got.N != 4 || e.got.GradientNoise != 14 || e.got.CountNoise != 40 || e.got.CountTarget != 0.75 || e.got.Widened != 1+privacy.RoundingAllowance(1<<20, 2) {
		t.Errorf("noise %+v", e.got)
	}
}

// With Feistel batches an engine gets a network for each thread that draws, and the
// networks define the batches of Draw. With exact batches it gets none.
func TestStepsHaveTheNetwork(t *testing.T) {
	for _, batches := range []string{sampler.Exact, sampler.Feistel} {
		e := &fakeStepper{takes: 4}
		m := poissonMechanism(t, 10)
		m.Sampler.Batches = batches
		s := begin(t, newCurator(t, config(t, e)), m)
		if err := s.Prepare(privacy.Postprocessing{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Steps([]float64{1}, make([]float64, 4), nil, 4); err != nil {
			t.Fatal(err)
		}
		if batches == sampler.Exact {
			if e.got.Networks != nil {
				t.Error("exact batches have a network")
			}
			continue
		}
		if len(e.got.Networks) != e.got.Threads {
			t.Fatalf("%d networks for %d threads", len(e.got.Networks), e.got.Threads)
		}
		n := e.got.Networks[0]
		if n.Stream.Key() != noise.Insecure(1).Child(0).Stream(noise.Sampling).Key() {
			t.Error("another stream than that of batches")
		}
		for k := range 4 {
			if batch, _ := e.got.Draw(0, k, nil); n.Size(k) != len(batch) {
				t.Errorf("step %d: %d records, want %d", k, n.Size(k), len(batch))
			}
		}
	}
}

// Large batches are drawn by several threads, each of which draws any step's.
func TestLargeBatchesAreDrawnByThreads(t *testing.T) {
	const N = 6000
	lines := strings.SplitAfter(strings.TrimSpace(table)+"\n", "\n")
	e := &fakeStepper{takes: 3}
	cfg := config(t, e)
	cfg.Table = tableAt(writeFile(t, "data.csv", lines[0]+strings.Repeat(lines[1], N)))
	s := begin(t, newCurator(t, cfg), poissonMechanism(t, 10))
	if err := s.Prepare(privacy.Postprocessing{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Steps([]float64{1}, nil, make([]float64, 3), 3); err != nil {
		t.Fatal(err)
	}
	if e.got.Threads != runtime.GOMAXPROCS(0) || e.got.Rate != 0.5 {
		t.Errorf("%d threads, rate %g", e.got.Threads, e.got.Rate)
	}
	for step := range 3 {
		want, _ := e.got.Draw(0, step, nil)
		if len(want) < N/3 { // 25 deviations of 39 below 3000
			t.Errorf("a batch of %d", len(want))
		}
		var wait sync.WaitGroup
		for thread := range e.got.Threads {
			wait.Go(func() {
				if batch, _ := e.got.Draw(thread, step, nil); !cmp.Equal(batch, want) {
					t.Errorf("thread %d draws another batch for step %d", thread, step)
				}
			})
		}
		wait.Wait()
	}
}

// Steps that were not taken are given back, since nothing of them is released.
func TestStepsEndEarly(t *testing.T) {
	e := &fakeStepper{takes: 2}
	s := begin(t, newCurator(t, config(t, e)), mechanism(t, 10))
	if done, err := s.Steps([]float64{1}, nil, make([]float64, 6), 6); done != 2 || err != nil || s.StepsDone() != 2 {
		t.Errorf("%d steps done, %d charged: %v", done, s.StepsDone(), err)
	}
	if _, all := e.got.Draw(0, 3, nil); !all {
		t.Error("a full batch is not all records")
	}
}

// All steps are charged before they run: not one more than authorised, and a
// failure gives nothing back and lets nothing out.
func TestStepsAreChargedFirst(t *testing.T) {
	e := &fakeStepper{takes: 2}
	s := begin(t, newCurator(t, config(t, e)), mechanism(t, 10))
	var over *privacy.StepsError
	if done, err := s.Steps([]float64{1}, nil, make([]float64, 11), 11); done != 0 || !errors.As(err, &over) || s.StepsDone() != 0 {
		t.Errorf("11 steps of 10: %d done, %d charged, %v", done, s.StepsDone(), err)
	}
	if _, err := s.Steps([]float64{1}, nil, make([]float64, 10), 10); err != nil { // takes 2
		t.Errorf("10 steps of 10: %v", err)
	}
	e.err = errors.New("device lost")
	state, kept := []float64{1}, make([]float64, 6)
	done, err := s.Steps(state, kept, make([]float64, 6), 6)
	mustContain(t, err, "device lost")
	if done != 0 || s.StepsDone() != 8 || !cmp.Equal(append(kept, state...), make([]float64, 7)) {
		t.Errorf("after a failure: %d steps done, %d charged, state %g, kept %g", done, s.StepsDone(), state, kept)
	}
}

// A tape or a batch that the engine cannot step through alone is refused by Prepare.
func TestNotStepping(t *testing.T) {
	s := begin(t, newCurator(t, config(t, &fakeEngine{})), mechanism(t, 2))
	if err := s.Prepare(privacy.Postprocessing{}); !errors.Is(err, privacy.ErrNotStepping) {
		t.Errorf("an engine without steps: %v", err)
	}
	b := graph.NewBuilder()
	tape, err := graph.Compile(b, b.Mul(b.Column(0), b.Add(b.Aux("eta", nil, false), b.Param("w", nil))), nil, graph.Options{GradientOnly: true, Columns: 3})
	if err != nil {
		t.Fatal(err)
	}
	m := mechanism(t, 2)
	m.Tape = tape
	s = begin(t, newCurator(t, config(t, &fakeStepper{})), m)
	if err := s.Prepare(privacy.Postprocessing{}); !errors.Is(err, privacy.ErrNotStepping) {
		t.Errorf("a model that draws noise for every step: %v", err)
	}
	refusal := errors.New("too large")
	s = begin(t, newCurator(t, config(t, &fakeStepper{refuses: refusal})), mechanism(t, 2))
	if err := s.Prepare(privacy.Postprocessing{}); !errors.Is(err, refusal) {
		t.Errorf("an engine that refuses: %v", err)
	}
}
