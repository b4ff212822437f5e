package expr

import (
	"math"
	"slices"

	"d3p/internal/models/dist"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
	"d3p/internal/spell"
)

// mixture lowers mixture(weights, component, over=dim); a weight vector's only
// dim is the default.
func mixture(l *lowering, c *Call, args []Expr) dist.Density {
	weights := l.weights(args[0], args[2])
	component := l.density(args[1])
	if weights == nil || component == nil {
		return nil
	}
	over := ""
	switch s := weights.Shape(); {
	case args[2] != nil:
		name, ok := l.dim(args[2], s)
		if !ok {
			return nil
		}
		over = name
	case len(s) == 1:
		over = s[0].Name
	default:
		l.fail(c.At, "name it with over=", "the components of a mixture need one dim, the weights have %v", s)
		return nil
	}
	if n, ok := args[0].(*Name); ok {
		if v := l.env.Values[n.ID]; v.Support != nil && v.Support.Kind != support.Simplex {
			l.fail(n.At, "give them the prior dirichlet(1)", "the weights of a mixture must be a simplex, but %s is %v", n.ID, *v.Support)
			return nil
		}
	}
	return dist.Mixture{Weights: weights, Component: component, Over: over}
}

// weights lowers the weights of a mixture; a list of numbers lies along the dim
// over.
func (l *lowering) weights(e, over Expr) *graph.Node {
	list, ok := e.(*List)
	if !ok {
		return l.node(e)
	}
	dim, ok := over.(*Name)
	if !ok {
		return l.fail(list.At, "name the dim of the components with over=", "a list of weights has no dim")
	}
	n := l.numbers(list, dim.ID)
	if n == nil {
		return nil
	}
	l.fitsList(&Call{Func: "mixture"}, dist.Arg{Name: "weights", Support: support.Simplex}, list)
	return n
}

func missing(l *lowering, c *Call, args []Expr) dist.Density {
	p := l.node(args[0])
	base := l.density(args[1])
	if p == nil || base == nil {
		return nil
	}
	l.fits(c, dist.Arg{Name: "p", Support: support.UnitInterval}, args[0], p)
	return dist.Missing{P: p, Base: base}
}

func censored(l *lowering, c *Call, args []Expr) dist.Density {
	base, ok := l.base(c, args[0])
	event := l.node(args[1])
	if !ok || event == nil {
		return nil
	}
	if event.Stage()&graph.StageGlobal != 0 {
		l.fail(args[1].Pos(), "name a binary column", "the event of censored must be data")
		return nil
	}
	column := ""
	if name, ok := args[1].(*Name); ok {
		column = name.ID
	}
	return dist.Censored{Base: base, Event: event, Column: column}
}

// truncated lowers truncated(base, lower, upper); an infinite bound counts as no bound.
func truncated(l *lowering, c *Call, args []Expr) dist.Density {
	t := dist.Truncated{}
	ok := true
	if inner, isCall := args[0].(*Call); isCall && inner.Func == "censored" {
		var known dist.Censored
		known, ok = l.density(inner).(dist.Censored)
		t.Base, t.Event, t.EventColumn = known.Base, known.Event, known.Column
	} else {
		t.Base, ok = l.base(c, args[0])
	}
	if args[1] == nil && args[2] == nil {
		l.fail(c.At, "give lower=, upper= or both", "truncated has no bound")
		return nil
	}
	var okLower, okUpper bool
	t.Lower, okLower = l.bound(args[1], -1)
	t.Upper, okUpper = l.bound(args[2], 1)
	if !ok || !okLower || !okUpper {
		return nil
	}
	if raw, isCall := args[1].(*Call); isCall && raw.Func == "raw" && len(raw.Args) == 1 {
		if column, isName := raw.Args[0].Value.(*Name); isName {
			t.LowerColumn = column.ID
		}
	}
	return t
}

// bound lowers a bound; nil for an infinite one on its own side.
func (l *lowering) bound(e Expr, side int) (*graph.Node, bool) {
	if e == nil {
		return nil, true
	}
	n := l.node(e)
	if n == nil {
		return nil, false
	}
	if v, ok := n.Value(); ok && math.IsInf(v, side) {
		return nil, true
	}
	return n, true
}

// base lowers the argument of a combinator that takes one distribution only.
func (l *lowering) base(c *Call, e Expr) (dist.Applied, bool) {
	call, ok := e.(*Call)
	if ok {
		if d, known := dist.Lookup(call.Func); known {
			return l.applied(call, d)
		}
	}
	if l.density(e) != nil {
		l.fail(e.Pos(), "put "+c.Func+" inside", "%s takes a single distribution", c.Func)
	}
	return dist.Applied{}, false
}

// joint lowers joint(dim, label=density, ...), one density for each label of
// the dim.
func (l *lowering) joint(c *Call) dist.Density {
	if len(c.Args) == 0 || c.Args[0].Name != "" {
		l.fail(c.At, "write joint(dim, label=distribution, ...)", "joint needs a dim first")
		return nil
	}
	over, ok := c.Args[0].Value.(*Name)
	if !ok {
		l.fail(c.Args[0].At, "write the name of a dim", "%s is not a dim", c.Args[0].Value)
		return nil
	}
	d, ok := l.env.Dims[over.ID]
	if !ok {
		l.fail(over.At, spell.Question(over.ID, l.env.dimNames(), "declare it under dims:"), "unknown dim %s", over.ID)
		return nil
	}
	before := len(l.errs)
	parts := make([]dist.Density, d.Size)
	for _, a := range c.Args[1:] {
		i := slices.Index(d.Labels, a.Name)
		if i < 0 {
			l.fail(a.At, spell.Question(a.Name, d.Labels, "write label=distribution"), "dim %s has no label '%s'", over.ID, a.Name)
			continue
		}
		parts[i] = l.density(a.Value)
	}
	for i, p := range parts {
		if p == nil && len(l.errs) == before {
			l.fail(c.At, "", "joint has no distribution for %s", d.Labels[i])
			break
		}
	}
	if len(l.errs) > before {
		return nil
	}
	return dist.Joint{Over: over.ID, Parts: parts}
}
