package fit

// Trace holds iterates of a fit, thinned: the guide's location after some of
// the steps. The mechanism released all of them, so the claim covers them.
type Trace struct {
	Steps []int     `json:"steps"` // 1 to T, rising
	Mean  []float64 `json:"mean"`  // [len(Steps) x P], row-major

	every, last int
}

// Bounds of a trace: at most so many iterates, and numbers in all of them.
const (
	traceIterates = 200
	traceNumbers  = 1 << 17
)

// newTrace returns an empty trace with room for what a fit of steps steps and
// latent numbers will keep; the last iterate is always kept.
func newTrace(steps, latent int) Trace {
	iterates := max(2, min(traceIterates, traceNumbers/latent))
	t := Trace{every: (steps + iterates - 1) / iterates, last: steps}
	room := steps/t.every + 1
	t.Steps, t.Mean = make([]int, 0, room), make([]float64, 0, room*latent)
	return t
}

// wants reports whether the iterate after step is kept.
func (t *Trace) wants(step int) bool { return step%t.every == 0 || step == t.last }

// add keeps location (P) as the iterate after step.
func (t *Trace) add(step int, location []float64) {
	t.Steps, t.Mean = append(t.Steps, step), append(t.Mean, location...)
}

// restore takes over the iterates of saved, and reports whether they fit.
func (t *Trace) restore(saved Trace, latent int) bool {
	if len(saved.Mean) != len(saved.Steps)*latent || len(saved.Steps) > cap(t.Steps) {
		return false
	}
	t.Steps, t.Mean = append(t.Steps, saved.Steps...), append(t.Mean, saved.Mean...)
	return true
}
