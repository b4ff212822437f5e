package privacy

import (
	"fmt"

	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// Budget is the guarantee for everything that the curator releases, together with the
// spending of earlier runs on the same data.
type Budget struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// BudgetError: a mechanism was refused before it ran.
type BudgetError struct {
	Budget Budget
	Needs  float64 // certified upper epsilon of everything together, at Budget.Delta
	Before float64 // certified upper epsilon of the spending before it
}

// Error states the price of the mechanism.
func (e *BudgetError) Error() string {
	spent := ""
	if e.Before > 0 {
		spent = fmt.Sprintf(", of which %.6g was spent before", e.Before)
	}
	return fmt.Sprintf("epsilon %.6g is needed at delta %g%s, and the budget is %g",
		e.Needs, e.Budget.Delta, spent, e.Budget.Epsilon)
}

// StepsError means that a session was asked for more steps than were authorised.
type StepsError struct{ Authorised int }

// Error names the authorised number.
func (e *StepsError) Error() string {
	return fmt.Sprintf("privacy: all %d authorised steps are done (begin another session; it is charged to the budget)", e.Authorised)
}

// certify returns the certified answer for spent and ev together, or a
// *BudgetError when it exceeds the budget.
func (b Budget) certify(spent Ledger, ev event.Event, rel event.Relation) (accountant.Answer, error) {
	answer, err := accountant.Epsilon(compose(spent, ev), rel, b.Delta)
	if err != nil {
		return answer, err
	}
	if answer.Upper <= b.Epsilon { // false for NaN
		return answer, nil
	}
	refused := &BudgetError{Budget: b, Needs: answer.Upper}
	if len(spent.Entries) > 0 {
		if before, err := accountant.Epsilon(spent.Event(), rel, b.Delta); err == nil {
			refused.Before = before.Upper
		}
	}
	return answer, refused
}

// compose is the event of everything spent, then ev.
func compose(spent Ledger, ev event.Event) event.Event {
	if len(spent.Entries) == 0 {
		return ev
	}
	return event.Composed{Events: []event.Event{spent.Event(), ev}}
}

// spendingPoints is the number of step counts for which the spent epsilon is
// computed; an answer takes milliseconds to tenths of a second.
const spendingPoints = 20

// spending gives the spent epsilon during a session: public, and cheap enough for a
// progress line.
type spending struct {
	before   Ledger // the event before the session
	m        Mechanism
	budget   Budget
	relation event.Relation
	total    float64 // certified for all steps

	known [spendingPoints + 1]float64 // by k; 0 is not computed yet
}

// after is an upper bound for the first `done` steps. Epsilon grows with every
// step, so the first computed count at or above done bounds it.
func (s *spending) after(done int) float64 {
	k := (done*spendingPoints + s.m.Steps - 1) / s.m.Steps // smallest with k·T/20 >= done
	if k >= spendingPoints {
		return s.total
	}
	if s.known[k] == 0 {
		s.known[k] = s.compute(k * s.m.Steps / spendingPoints)
	}
	return s.known[k]
}

func (s *spending) compute(steps int) float64 {
	ev := event.Event(event.Composed{})
	if steps > 0 {
		ev = s.m.Event(steps)
	}
	answer, err := accountant.Epsilon(compose(s.before, ev), s.relation, s.budget.Delta)
	if err != nil || !(answer.Upper < s.total) {
		return s.total
	}
	return answer.Upper
}
