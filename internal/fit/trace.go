package fit

import (
	"slices"

	"d3p/internal/posterior"
)

// trace thins the iterates that a posterior keeps.
type trace struct {
	posterior.Trace
	every, last int
	more        []int // number of further steps whose iterates are kept
}

// A trace holds at most traceIterates iterates and about traceNumbers numbers.
const (
	traceIterates = 200
	traceNumbers  = 1 << 17
)

// newTrace returns an empty trace for a fit of `steps` steps and `latent` numbers. It
// always keeps the last iterate, and those after the steps in more.
func newTrace(steps, latent int, more []int) trace {
	iterates := max(2, min(traceIterates, traceNumbers/latent))
	t := trace{every: (steps + iterates - 1) / iterates, last: steps, more: more}
	room := steps/t.every + 1 + len(more)
	t.Steps, t.Mean = make([]int, 0, room), make([]float64, 0, room*latent)
	return t
}

// wants reports whether the trace keeps the iterate after step.
func (t *trace) wants(step int) bool {
	return step%t.every == 0 || step == t.last || slices.Contains(t.more, step)
}

// add stores location (P) as the iterate after step.
func (t *trace) add(step int, location []float64) {
	t.Steps, t.Mean = append(t.Steps, step), append(t.Mean, location...)
}

// restore adopts saved iterates, and reports whether they fit.
func (t *trace) restore(saved trace, latent int) bool {
	if len(saved.Mean) != len(saved.Steps)*latent || len(saved.Steps) > cap(t.Steps) {
		return false
	}
	t.Steps, t.Mean = append(t.Steps, saved.Steps...), append(t.Mean, saved.Mean...)
	return true
}
