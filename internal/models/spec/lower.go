package spec

import (
	"d3p/internal/models/core"
	"d3p/internal/models/formula"
	"d3p/internal/models/twin"
)

// Lower returns the model in the core language: the core blocks as they are, or
// what the formula or the twin stands for. The Spec must be free of mistakes.
//
// A formula `y ~ 1 + x + (1 | g)` becomes
//
//	dims:   coef: [x]; g: levels(g); g_coef: [Intercept]
//	params: Intercept, b [coef], sd_g [g_coef], z_g [g, g_coef], and the
//	        family's own parameters
//	let:    r_g: z_g * sd_g
//	rows:   eta: Intercept + columns(coef) @ b + r_g[g, 'Intercept']
//	        y: the family's distribution of eta
func (s *Spec) Lower() (*core.Core, Errors) {
	switch {
	case s.Core != nil:
		return s.Core, nil
	case s.Twin != nil:
		return twin.Lower(s.Twin, &s.Data)
	}
	return formula.Lower(s.Model, &s.Data)
}

// Lowerable is Lower for a Spec with mistakes: it returns false when these stand
// in the way of looking at the model's expressions.
func (s *Spec) Lowerable() (*core.Core, bool) {
	for _, c := range s.Data.Columns {
		if !c.Type.IsSet() || !c.Numeric() && len(c.Levels) < 2 {
			return nil, false
		}
	}
	switch {
	case s.fronts() > 1:
		return nil, false
	case s.Twin != nil:
		if !s.Twin.Lowerable(&s.Data) {
			return nil, false
		}
		core, _ := s.Lower()
		return core, core.Parsed()
	case s.Core != nil:
		return s.Core, s.Core.Parsed() && s.parsedNets()
	case s.Model == nil || s.Model.Terms == nil || !s.Model.Complete(&s.Data):
		return nil, false
	}
	f := formula.FamilyOf(s.Model.Family.V)
	if f == nil || f.Link(s.Model.Link.V) == nil || f.Intervals != (len(s.Model.Cuts) > 0) {
		return nil, false
	}
	for _, p := range s.Model.Priors {
		if p.Expr == nil {
			return nil, false
		}
	}
	core, _ := s.Lower()
	return core, core.Parsed()
}
