//go:build linux && !nogpu

package gpu

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"d3p/internal/fit/plan"
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// TestOnDeviceTimes prints the time of a step of whole fits: batches, gradients, noise,
// optimizer and the host's work. Each workload is a separate test, so that a failure ends
// no other.
func TestOnDeviceTimes(t *testing.T) {
	for _, w := range timings(smallDevice()) {
		t.Run(w.name, func(t *testing.T) {
			e := onDevice(t)
			cards, err := Devices()
			if err != nil {
				t.Fatal(err)
			}
			fmt.Println(w.measure(t, e, cards[0].Bandwidth))
		})
	}
}

// measure runs the fits of a workload and returns a row of the table: workload, records
// in a batch, µs a step, steps/s of all fits, table read, an epoch. bandwidth is the
// bandwidth of the device's memory, in bytes/s.
func (w timing) measure(t *testing.T, e privacy.Engine, bandwidth float64) string {
	t.Helper()
	m := w.compile(t)
	table := privacy.NewTable(privacy.TableConfig{
		Data: w.data(t), Encoding: m.Encoding, Spare: m.Likelihood.K - m.Likelihood.K0, Precision: privacy.Float32, Root: noise.Insecure(1),
	})
	plan, err := plan.New(m, w.config)
	if err != nil {
		t.Fatal(err)
	}
	watches := make([]stopwatch, w.fits)
	var wait, ready sync.WaitGroup
	ready.Add(w.fits)
	for k := range w.fits {
		start := &startLine{Engine: e, ready: &ready}
		watches[k].first = time.Now()
		wait.Go(func() {
			defer start.arrive()
			runFit(t, plan, start, table, noise.Insecure(3).Child(uint64(k)), &watches[k])
		})
	}
	wait.Wait()
	first, last, steps := watches[0].first, watches[0].last, 0
	for _, s := range watches {
		steps += s.steps
		if s.first.Before(first) {
			first = s.first
		}
		if s.last.After(last) {
			last = s.last
		}
	}
	seconds := last.Sub(first).Seconds()
	step := seconds / float64(steps) * float64(w.fits)
	batch := plan.SamplingRate * float64(w.records)
	read, epoch := "", ""
	if w.columns > 0 {
		rate := batch * float64(4*m.Likelihood.K) * float64(w.fits) / step
		read = fmt.Sprintf("%.1f GB/s", rate/1e9)
		if bandwidth > 0 {
			read += fmt.Sprintf(", %.2g %%", 100*rate/bandwidth)
		}
	}
	if w.epoch > 0 {
		epoch = fmt.Sprintf("%.3f s", step*float64(w.epoch))
	}
	return fmt.Sprintf("| %s | %.0f | %.1f | %.0f | %s | %s |", w.name, batch, 1e6*step, float64(steps)/seconds, read, epoch)
}

// A startLine is one fit's engine: its first step waits until all fits are ready, so that
// the time of fits side by side is the time of their steps.
type startLine struct {
	privacy.Engine
	ready *sync.WaitGroup
	once  sync.Once
}

type starting struct {
	privacy.Stepper
	line *startLine
}

func (s *startLine) arrive() { s.once.Do(s.ready.Done) }

// Open implements privacy.Engine.
func (s *startLine) Open(tape *graph.Tape, rows *privacy.Rows) (privacy.Worker, error) {
	w, err := s.Engine.Open(tape, rows)
	if err != nil {
		return nil, err
	}
	return starting{w.(privacy.Stepper), s}, nil
}

// Prepare implements privacy.Stepper.
func (s starting) Prepare(p privacy.Postprocessing) error {
	err := s.Stepper.Prepare(p)
	s.line.arrive()
	s.line.ready.Wait()
	return err
}

// A stopwatch is an Observer that measures the steps after the first call. The first call
// allocates memory, and its caches are cold.
type stopwatch struct {
	first, last time.Time
	at, steps   int
}

// Step implements fit.Observer.
func (s *stopwatch) Step(t, total int, _ func() float64) {
	s.last = time.Now()
	if s.at == 0 && t < total {
		s.at, s.first = t, s.last
	}
	s.steps = t - s.at
}
