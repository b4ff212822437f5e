package plan

import (
	"fmt"

	"d3p/internal/privacy/accountant"
)

// Planned is the whole of a fit that was ended early.
type Planned struct {
	Iterations int     `json:"iterations"`
	Epsilon    float64 `json:"epsilon"` // of all iterations, at the fit's delta: an upper bound
}

// Finish makes p the plan of a fit that ended after steps of its T steps, at the price
// of those. That price is the fit's if the decision to end it did not depend on its
// iterates; whatever the decision depended on, the price of all T steps is. Side queries are
// not asked.
func (p *Plan) Finish(steps int) error {
	if !p.Private || steps < 1 || steps >= p.Steps {
		return fmt.Errorf("plan: a fit of %d steps cannot end after %d", p.Steps, steps)
	}
	p.SideQueries = nil // they come after the last step
	whole, err := p.price()
	if err != nil {
		return err
	}
	p.Planned = &Planned{p.Steps, whole.Upper}
	p.Steps = steps
	answer, err := p.price()
	if err != nil {
		return err
	}
	p.Certified = &answer
	return p.recordEvent()
}

// price is what p's mechanism costs.
func (p *Plan) price() (accountant.Answer, error) {
	return accountant.Epsilon(p.MechanismEvent(p.NoiseMultiplier), p.Neighbours, p.Delta)
}
