package fit

import (
	"math"
	"slices"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/table1"
)

// BuyBounds buys the bounds and scales that the plan's model leaves open, and settles the
// plan with them. The curator's columns are encoded with the declared limits. It first
// certifies the whole plan with its steps. compile makes the model with the bought numbers;
// if these are invalid, such as bounds that exclude a cut point, the declared limits stay.
// It does nothing for a plan that leaves nothing open.
func BuyBounds(p *plan.Plan, c *privacy.Curator, compile func(data.Bought) (*models.Model, error)) error {
	if !p.Open() {
		return nil
	}
	if err := authorise(p, c); err != nil {
		return err
	}
	limits := p.Model()
	numbers, settled := make([]data.Numbers, len(p.Bounds)), map[string]data.Numbers{}
	for i := range p.Bounds {
		b := &p.Bounds[i]
		var err error
		if numbers[i], err = b.Buy(c, limits); err != nil {
			return err
		}
		settled[b.Column] = numbers[i]
	}
	m, err := compile(data.Bought{Numbers: settled})
	if err != nil {
		for i, b := range p.Bounds {
			numbers[i] = table1.Limits(limits.Spec.Data.Column(b.Column))
			settled[b.Column] = numbers[i]
		}
		if m, err = compile(data.Bought{Numbers: settled}); err != nil {
			return err
		}
	}
	p.Settle(numbers, m)
	return nil
}

// Buy buys the number of units and Table 1 from the curator, if the plan buys them, and
// gives the plan the resulting law and default priors. compile makes the model with them.
// Buy first certifies the rest of the plan with its steps. It does nothing for a plan that
// has bought both.
func Buy(p *plan.Plan, c *privacy.Curator, compile func(data.Bought) (*models.Model, error)) error {
	if !p.ToCount() {
		return nil
	}
	if err := authorise(p, c); err != nil {
		return err
	}
	if p.Counted != nil {
		var err error
		if p.Counted, err = p.Counted.Buy(c); err != nil {
			return err
		}
	}
	if p.Purchase == nil {
		return nil
	}
	l, err := p.Purchase.Buy(c, p.Model())
	if err != nil {
		return err
	}
	err = p.SettlePriors(func(column string) (mean, sd float64) {
		if own := l.Column(column); own.Shares != nil {
			return own.Moments()
		}
		return 0, 0
	}, compile)
	if err != nil {
		return err
	}
	if err := p.Learn(l); err != nil || !p.ByMoments() {
		return err
	}
	second, err := c.Moments(string(table1.Second), p.SecondDesign())
	if err != nil {
		return err
	}
	return p.LearnSecond(second)
}

// SettlePriors gives a plan without privacy the default priors that follow from the records.
func SettlePriors(p *plan.Plan, c *privacy.Curator, compile func(data.Bought) (*models.Model, error)) error {
	at := map[string]int{} // place of a column in the design
	design := privacy.Design{Products: [][]privacy.Reading{{}}, Bound: 1}
	for _, prior := range p.Spread {
		for _, name := range append(slices.Clone(prior.Columns), prior.Response) {
			if at[name] > 0 || name == "" {
				continue
			}
			column := p.Model().Spec.Data.Column(name)
			center, by := column.Scale()
			at[name] = len(design.Products)
			design.Products = append(design.Products, []privacy.Reading{{Column: column.HeaderName(), Level: privacy.Number, Transform: column.Transform.V, Center: center, By: by}})
			design.Bound += 3 // the square of a number at its bounds
		}
	}
	moments, err := c.NonPrivateMoments(design)
	if err != nil {
		return err
	}
	k := len(design.Products)
	return p.SettlePriors(func(name string) (mean, sd float64) {
		j := at[name]
		center, by := p.Model().Spec.Data.Column(name).Scale()
		mean = moments[j] / moments[0]
		diagonal := j*k - j*(j-1)/2
		return center + by*mean, by * math.Sqrt(max(moments[diagonal]/moments[0]-mean*mean, 0))
	}, compile)
}

// authorise certifies the remaining releases of the plan, before and in its steps.
func authorise(p *plan.Plan, c *privacy.Curator) error {
	m, err := p.Mechanism()
	if err != nil {
		return err
	}
	before := p.Before()
	if !p.Open() {
		before = before[len(plan.Before(p.Bounds, nil, nil)):]
	}
	after := p.SideQueries.Events(p.Neighbours)
	return c.Authorise(slices.Concat(before, []event.Event{m.Event(m.Steps)}, after)...)
}
