package verify

import (
	"slices"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/spec"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/report"
	"d3p/internal/score"
	"d3p/internal/settings"
	"d3p/internal/table1"
)

// purchasesDiffer names the first purchase in a report, or number of one, that does not follow from the model
// file, the price in the report, the budget and the neighbours. Purchases that a build chooses itself are planned again by the same one
// alone; of others the noise has to be that of the event.
func purchasesDiffer(p *report.Privacy, m *models.Model, locked map[string]any, sameBuild bool) string {
	bought, rel, delta := &p.Mechanism, event.Relation(p.Neighbours.Relation), p.Guarantee.Delta
	if wrong := boundsDiffer(bought.Bounds, delta, rel, m.Spec); wrong != "" {
		return wrong
	}
	if wrong := levelsDiffer(bought.Levels, delta, rel, m); wrong != "" {
		return wrong
	}
	if units := table1.UnitsOf(m, delta, rel); units != nil && bought.Units != nil {
		units.Number = bought.Units.Number
		if !same(units, bought.Units) {
			return units.Purpose()
		}
	} else if units != bought.Units {
		return (&table1.UnitCount{}).Purpose()
	}
	return table1Differs(p, m, locked, sameBuild)
}

// table1Differs is purchasesDiffer for Table 1.
func table1Differs(p *report.Privacy, m *models.Model, locked map[string]any, sameBuild bool) string {
	bought := &p.Mechanism
	asked, _ := locked["table1"].(string)
	if bought.Purchase == nil {
		return ""
	}
	if asked == settings.Table1None {
		return "Table 1"
	}
	made := planOf(p)
	if bought.Selection != nil {
		made.Mu = 0 // the fit's part of the budget is not in the report
	}
	wrong := bought.Purchase.Contradiction(m, bought.Bounds, made.Mu, made.Neighbours)
	if wrong != "" || !sameBuild || bought.Selection != nil || bought.Levels != nil || bought.Bounds != nil {
		return wrong
	}
	again, err := made.PurchaseBy(asked, m, bought.Clip.Mode == plan.ClippingByMoments)
	if second := again.Second(); second != nil && bought.Purchase.Second() != nil {
		second.Bound = bought.Purchase.Second().Bound // of what was bought before
	}
	if err != nil || !same(again, bought.Purchase) {
		return "Table 1"
	}
	return ""
}

// choicesDiffer names the first number of a report, other than purchases before the first step, that the same build does not choose
// again for the model file and its settings.
func choicesDiffer(p *report.Privacy, m *models.Model, locked map[string]any) string {
	said, made := &p.Mechanism, planOf(p)
	if q := said.SideQueries; q != nil && said.Levels == nil && said.Bounds == nil {
		again, err := score.NewSideQueries(m, q.Quantities, said.Iterations, 1, made.Neighbours)
		if err != nil {
			return "the trace"
		}
		again.Noise, again.Counts = q.Noise, q.Counts
		if !same(again, q) {
			return "the trace"
		}
	}
	if said.Purchase == nil { // else the coordinates may be those of Table 1
		made.Gradient, _ = locked["gradient"].(string)
		if err := made.Bind(m); err != nil {
			return "the model"
		}
		if made.BoundGradients(); !same(made.ClipBound, said.Clip.Bound) {
			return "the bound of gradients"
		}
	}
	if made.Ridge = 0; made.Perturbs() {
		cfg := plan.Config{Records: made.Records, Delta: made.Delta, Neighbours: string(made.Neighbours)}
		cfg.Method, _ = locked["method"].(string)
		cfg.Epsilon, _ = locked["epsilon"].(float64)
		if again, err := plan.New(m, cfg); err == nil {
			made.Ridge = again.Ridge
		}
	}
	if !same(made.Ridge, said.Ridge) {
		return "the ridge"
	}
	return ""
}

// boundsDiffer names the first purchase that its price does not plan, or whose numbers differ from those of the model file.
func boundsDiffer(bought []table1.Bounds, delta float64, rel event.Relation, s *spec.Spec) string {
	for i := range bought {
		b := &bought[i]
		c, n := s.Data.Column(b.Column), b.Numbers
		again := b.Planned(delta, rel)
		again.Numbers, again.Outside = b.Numbers, b.Outside
		if c == nil || n == nil || !same(again, b) || b.OfBounds != 0 && (c.Lower.V != n.Lower || c.Upper.V != n.Upper) ||
			n.By != 0 && (c.Center.V != n.Center || c.By.V != n.By) {
			return b.Purpose()
		}
	}
	return ""
}

// levelsDiffer names the first purchase that its price does not plan, or whose levels differ from those of the model file.
func levelsDiffer(bought []table1.Levels, delta float64, rel event.Relation, m *models.Model) string {
	for i := range bought {
		l := &bought[i]
		c := m.Spec.Data.Column(l.Column)
		if c == nil || l.Found == nil || len(l.Found) > l.Most {
			return l.Purpose()
		}
		again := l.Planned(m, len(bought), delta, rel)
		again.Found = l.Found
		settled := *c
		settled.SettleLevels(l.Names())
		if !same(again, l) || !slices.Equal(settled.LevelNames(), c.LevelNames()) || slices.ContainsFunc(l.Found, func(x privacy.Level) bool { return x.Count < l.Threshold }) {
			return l.Purpose()
		}
	}
	return ""
}

// same compares two values as JSON has them.
func same(a, b any) bool { return near(decoded(a), decoded(b)) }
