package ledger

import (
	"errors"

	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// Next is the largest epsilon, at the delta of the limit, that the limit allows one more
// run with full batches; 0 if none. Prices compose to less than their sum, so it exceeds
// the limit less the ledger's epsilons. Other batches may have nearly as much.
func (b *Ledger) Next() (float64, error) {
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
		return 0, nil // no noise is large enough for the remaining budget
	}
	if err != nil {
		return 0, err
	}
	return b.Epsilon(more(c.NoiseMultiplier))
}
