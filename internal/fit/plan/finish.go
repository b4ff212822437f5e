package plan

import (
	"fmt"

	"d3p/internal/privacy/accountant"
)

// Planned has the settings of the whole fit, if the fit was ended early.
type Planned struct {
	Iterations int     `json:"iterations"`
	Epsilon    float64 `json:"epsilon"` // of all planned iterations, at the fit's delta: an upper bound
}

// Finish makes p the plan of a fit that ended after steps of its T steps, at the price of
// those steps. That price holds if the decision to end did not depend on the fit's
// iterates; the price of all T steps always holds. Such a fit asks no side queries.
func (p *Plan) Finish(steps int) error {
	if !p.Private || steps < 1 || steps >= p.Steps {
		return fmt.Errorf("plan: a fit of %d steps cannot end after %d", p.Steps, steps)
	}
	p.SideQueries, p.Surprisals, p.DesignEffects = nil, nil, nil // the fit asks them after its last step
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

// price is the price of p's mechanism.
func (p *Plan) price() (accountant.Answer, error) {
	return accountant.Epsilon(p.MechanismEvent(p.NoiseMultiplier), p.Neighbours, p.Delta)
}
