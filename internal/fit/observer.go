package fit

// Observer watches a fit. The fit calls it after each completed step, 1 ≤ t ≤ T.
// epsilonSpent computes the ε of the completed steps, which may take milliseconds.
type Observer interface {
	Step(t, T int, epsilonSpent func() float64)
}

// Checkpointer is an Observer that also saves the state of a running fit. The fit calls
// Keep after each step; Keep calls checkpoint if a save is due. It calls Keep with now for a save
// whatever is due.
type Checkpointer interface {
	Observer
	Keep(checkpoint func() (Checkpoint, error), now bool)
}
