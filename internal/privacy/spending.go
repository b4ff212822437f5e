package privacy

import (
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

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
