package accountant

import "fmt"

// InputError is a question with a value out of range.
type InputError struct {
	Name  string
	Value float64
	Want  string
}

func (e *InputError) Error() string {
	return fmt.Sprintf("%s: %v is not %s", e.Name, e.Value, e.Want)
}

// UnsupportedError is a ledger without a known or implemented valid accounting under the
// given neighbouring relation.
type UnsupportedError struct {
	What string // the event and relation
	Why  string // the reason
	Hint string // advice; may be empty
}

func (e *UnsupportedError) Error() string { return withHint(e.What+": "+e.Why, e.Hint) }

// InfeasibleError is a target that no value of the searched quantity reaches,
// or that every value reaches.
type InfeasibleError struct {
	Why  string
	Hint string // advice
}

func (e *InfeasibleError) Error() string { return withHint(e.Why, e.Hint) }

// DisagreementError means that the two engines contradict each other. It is a
// bug in this package; no number may be published from it.
type DisagreementError struct {
	Direction              string
	Lower, Estimate, Upper float64
}

func (e *DisagreementError) Error() string {
	return fmt.Sprintf("internal error: accounting engines disagree in direction %s (contour %.12g outside the bracket [%.12g, %.12g]); please report this",
		e.Direction, e.Estimate, e.Lower, e.Upper)
}

func withHint(message, hint string) string {
	if hint == "" {
		return message
	}
	return message + " (" + hint + ")"
}

// check reports the first parameter of the target that is out of range.
func (t Target) check() error {
	if !(t.Epsilon >= 0) || t.Epsilon > 1e300 {
		return &InputError{Name: "epsilon", Value: t.Epsilon, Want: "a finite number >= 0"}
	}
	if err := checkDelta(t.Delta); err != nil {
		return err
	}
	if t.Group != 0 {
		return checkGroup(t.Group)
	}
	return nil
}

// leastDelta is the smallest δ above 0 in a question: numbers near the smallest float64 have
// few digits. An upper bound on a δ that is not 0 is at least underflow.
const leastDelta, underflow = 1e-280, 1e-300

func checkDelta(delta float64) error {
	if !(delta >= leastDelta && delta < 1) {
		return &InputError{Name: "delta", Value: delta, Want: "a number from 1e-280 to below 1"}
	}
	return nil
}

// group is the number of records that the target is about.
func (t Target) group() int { return max(1, t.Group) }
