package ledger

import (
	"errors"

	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// Next is the largest epsilon, at the delta of the limit, of one more run with full
// batches that the limit allows; 0 if it allows none. It is more than the limit less the
// epsilons of the book, because prices compose to less than their sum. With other batches
// nearly as much is allowed.
func (b *Book) Next() (float64, error) {
	accounts, err := b.Accounts("")
	if err != nil {
		return 0, err
	}
	spent, err := b.Epsilon(Compose(accounts, nil))
	if err != nil || !(spent < b.Limit.Epsilon) {
		return 0, err
	}
	more := func(sigma float64) event.Event { return event.Gaussian{NoiseMultiplier: sigma} }
	c, err := accountant.CalibrateNoise(accountant.Target{Epsilon: b.Limit.Epsilon, Delta: b.Limit.Delta}, b.Relation, func(sigma float64) event.Event {
		return Compose(accounts, more(sigma))
	})
	var infeasible *accountant.InfeasibleError
	if errors.As(err, &infeasible) {
		return 0, nil // no noise is enough for the remaining budget
	}
	if err != nil {
		return 0, err
	}
	return b.Epsilon(more(c.NoiseMultiplier))
}
