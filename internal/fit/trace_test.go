package fit

import (
	"testing"

	"d3p/internal/posterior"
)

// A trace keeps at most 201 iterates, evenly spaced, and always the last one, in the
// memory that it reserved at the start.
func TestTraceIsThinned(t *testing.T) {
	for _, c := range []struct{ steps, latent, kept, first int }{
		{10, 3, 10, 1}, {1000, 3, 200, 5}, {1001, 3, 167, 6}, {7, 1 << 20, 2, 4},
	} {
		trace := newTrace(c.steps, c.latent, nil)
		room := cap(trace.Mean)
		location := make([]float64, c.latent)
		for step := 1; step <= c.steps; step++ {
			location[0] = float64(step)
			if trace.wants(step) {
				trace.add(step, location)
			}
		}
		n := len(trace.Steps)
		if n != c.kept || trace.Steps[0] != c.first || trace.Steps[n-1] != c.steps {
			t.Errorf("%d steps: kept %d from %d to %d, want %d from %d", c.steps, n, trace.Steps[0], trace.Steps[n-1], c.kept, c.first)
		}
		for i, step := range trace.Steps {
			if trace.Mean[i*c.latent] != float64(step) {
				t.Errorf("%d steps: iterate %d is %v, want that of step %d", c.steps, i, trace.Mean[i*c.latent], step)
			}
		}
		if cap(trace.Mean) != room {
			t.Errorf("%d steps: the trace grew from room for %d numbers to %d", c.steps, room, cap(trace.Mean))
		}
	}
}

// A restored trace continues the saved one.
func TestTraceRestores(t *testing.T) {
	saved := newTrace(20, 1, nil)
	for step := 1; step <= 7; step++ {
		if saved.wants(step) {
			saved.add(step, []float64{float64(step)})
		}
	}
	got := newTrace(20, 1, nil)
	if !got.restore(saved, 1) {
		t.Fatal("refused")
	}
	got.add(8, []float64{8})
	if len(got.Steps) != 8 || got.Mean[0] != 1 || got.Mean[7] != 8 {
		t.Errorf("%+v", got)
	}
	if got.restore(trace{Trace: posterior.Trace{Steps: []int{1}, Mean: []float64{1, 2}}}, 1) {
		t.Error("a trace of two numbers for one step was accepted")
	}
}
