package fit

import (
	"math"
	"slices"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/formula"
	"d3p/internal/models/law"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/table1"
)

// BuyLevels buys the levels that the plan's model leaves open, and settles the plan with them.
// texts gives the curator the texts of a column. It first certifies the whole plan with its steps.
// compile makes the model with the bought levels; if it is invalid, no level counts as found. It
// does nothing for a plan that leaves no levels open.
func BuyLevels(p *plan.Plan, c *privacy.Curator, texts func(column string) *privacy.Columns, compile func(data.Bought) (*models.Model, error)) error {
	if !p.OpenLevels() {
		return nil
	}
	if err := authorise(p, c); err != nil {
		return err
	}
	settle := func(found [][]privacy.Level) error {
		names := map[string][]string{}
		for i, l := range p.Levels {
			l.Found = found[i]
			names[l.Column] = l.Names()
		}
		m, err := compile(data.Bought{Levels: names})
		if err != nil {
			return err
		}
		return p.SettleLevels(found, m)
	}
	found, none := make([][]privacy.Level, len(p.Levels)), make([][]privacy.Level, len(p.Levels))
	for i := range p.Levels {
		l := &p.Levels[i]
		c.Columns(texts(l.Query(p.Model()).Column))
		var err error
		if found[i], err = l.Buy(c, p.Model()); err != nil {
			return err
		}
		none[i] = []privacy.Level{}
	}
	if settle(found) == nil {
		return nil
	}
	return settle(none)
}

// BuyBounds buys the bounds and scales that the plan's model leaves open, and settles the
// plan with them. The curator's columns are encoded with the declared limits. It first
// certifies the whole plan with its steps. compile makes the model with the bought numbers;
// if these are invalid, such as bounds that exclude a cut point, the declared limits stay.
// It does nothing for a plan that leaves nothing open.
func BuyBounds(p *plan.Plan, c *privacy.Curator, compile func(data.Bought) (*models.Model, error)) error {
	if !p.OpenBounds() {
		return nil
	}
	if err := authorise(p, c); err != nil {
		return err
	}
	p.Bounds = slices.Clone(p.Bounds) // replicates share plans
	limits := p.Model()
	bought := p.Settled() // its levels
	bought.Numbers = map[string]data.Numbers{}
	numbers := make([]data.Numbers, len(p.Bounds))
	for i := range p.Bounds {
		b := &p.Bounds[i]
		var err error
		if numbers[i], err = b.Buy(c, limits); err != nil {
			return err
		}
		bought.Numbers[b.Column] = numbers[i]
	}
	m, err := compile(bought)
	if err != nil {
		for i, b := range p.Bounds {
			numbers[i] = table1.Limits(limits.Spec.Data.Column(b.Column))
			bought.Numbers[b.Column], p.Bounds[i].Outside = numbers[i], nil
		}
		if m, err = compile(bought); err != nil {
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
	err = p.SettlePriors(func(column string) (s formula.Spread) {
		if c := l.Column(column); c.Shares != nil {
			s.Mean, s.SD = c.Moments()
			if s.Own = c.Own; c.OwnSD == 0 {
				s.Own = 1
			}
		}
		return s
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
	covariance := func(i, j int) float64 {
		i, j = min(i, j), max(i, j)
		return moments[i*k-i*(i-1)/2+j-i]/moments[0] - moments[i]/moments[0]*moments[j]/moments[0]
	}
	own := ownParts(p.Spread, at, covariance)
	return p.SettlePriors(func(name string) formula.Spread {
		center, by := p.Model().Spec.Data.Column(name).Scale()
		j := at[name]
		return formula.Spread{Mean: center + by*moments[j]/moments[0], SD: by * math.Sqrt(max(covariance(j, j), 0)), Own: own[name]}
	}, compile)
}

// ownParts are the parts of the predictors' variances that the others do not explain. at are the columns'
// places in the covariance.
func ownParts(priors []formula.SpreadPrior, at map[string]int, covariance func(i, j int) float64) map[string]float64 {
	var names []string
	for _, p := range priors {
		for _, name := range p.Columns {
			if !slices.Contains(names, name) && covariance(at[name], at[name]) > 0 {
				names = append(names, name)
			}
		}
	}
	var correlations []float64
	for _, a := range names {
		for _, b := range names {
			i, j := at[a], at[b]
			correlations = append(correlations, covariance(i, j)/math.Sqrt(covariance(i, i)*covariance(j, j)))
		}
	}
	own := map[string]float64{}
	for j, part := range law.OwnParts(correlations, len(names)) {
		own[names[j]] = part
	}
	return own
}

// authorise certifies the remaining releases of the plan, before and in its steps.
func authorise(p *plan.Plan, c *privacy.Curator) error {
	m, err := p.Mechanism()
	if err != nil {
		return err
	}
	levels, bounds := p.Levels, p.Bounds
	if !p.OpenLevels() {
		levels = nil
	}
	if !p.OpenBounds() {
		bounds = nil
	}
	before := plan.Before(levels, bounds, p.Counted, p.Purchase)
	after := p.After()
	return c.Authorise(slices.Concat(before, []event.Event{m.Event(m.Steps)}, after)...)
}
