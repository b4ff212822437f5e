package fit

// Observer watches a fit: it is called after each completed step, 1 ≤ t ≤ T.
// epsilonSpent computes the ε of the steps done, which may take milliseconds.
type Observer interface {
	Step(t, T int, epsilonSpent func() float64)
}

// Checkpointer is an Observer that also saves the state of a running fit. Keep is called
// after each step and calls checkpoint when a save is due.
type Checkpointer interface {
	Observer
	Keep(checkpoint func() (Checkpoint, error))
}
