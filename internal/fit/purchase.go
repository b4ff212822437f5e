package fit

import (
	"d3p/internal/fit/plan"
	"d3p/internal/privacy"
)

// Buy buys the plan's Table 1 from the curator and gives the plan the resulting law. The
// whole of the plan, its steps included, is certified first. It does nothing for a plan
// that buys nothing or has its law.
func Buy(p *plan.Plan, c *privacy.Curator) error {
	if p.Purchase == nil || p.Bought != nil {
		return nil
	}
	m, err := p.Mechanism()
	if err != nil {
		return err
	}
	if err := c.Authorise(append(p.Purchase.Events(), m.Event(m.Steps))...); err != nil {
		return err
	}
	l, err := p.Purchase.Buy(c, p.Model())
	if err != nil {
		return err
	}
	return p.Learn(l)
}
