package expr

import (
	"cmp"
	"slices"

	"d3p/internal/models/dist"
	"d3p/internal/models/graph"
	"d3p/internal/spell"
)

// LowerDensity turns the right side of a prior or an observation into a
// density: a distribution with its arguments, or mixture, missing, censored or
// truncated around one. The density is nil exactly when there are mistakes;
// all of them are returned, each with its place.
func LowerDensity(e Expr, env *Env, b *graph.Builder) (dist.Density, Errors) {
	l := lowering{env: env, b: b}
	d := l.density(e)
	if len(l.errs) > 0 {
		l.errs.Sort()
		return nil, l.errs
	}
	return d, nil
}

// combinators are the densities of densities, as functions of their arguments.
func combinators() []combinator {
	return []combinator{
		{function{name: "mixture", params: []string{"weights", "component", "over"}, optional: 1}, mixture},
		{function{name: "missing", params: []string{"p", "base"}}, missing},
		{function{name: "censored", params: []string{"base", "event"}}, censored},
		{function{name: "truncated", params: []string{"base", "lower", "upper"}, optional: 2}, truncated},
		{function{name: "log_density", params: []string{"column", "log"}}, logDensity},
	}
}

// jointName is the combinator whose argument names are the labels of a dim.
const jointName = "joint"

type combinator struct {
	function
	density func(l *lowering, c *Call, args []Expr) dist.Density
}

// isDensity reports whether a name is a distribution or a combinator.
func isDensity(name string) bool {
	_, ok := dist.Lookup(name)
	return ok || name == jointName || slices.ContainsFunc(combinators(), func(c combinator) bool { return c.name == name })
}

// DensityNames lists the distributions and combinators of the language.
func DensityNames() []string {
	names := append(dist.Names(), jointName)
	for _, c := range combinators() {
		names = append(names, c.name)
	}
	return names
}

func (l *lowering) distributionInExpression(c *Call) *graph.Node {
	return l.fail(c.At, "name it under params: or observe it in rows: observe:", "%s is a distribution, not a number", c.Func)
}

// density returns nil after reporting a mistake.
func (l *lowering) density(e Expr) dist.Density {
	c, ok := e.(*Call)
	if !ok {
		hint := "write a distribution such as normal(0, 1)"
		if n, isName := e.(*Name); isName {
			hint = spell.Question(n.ID, DensityNames(), hint)
		}
		l.fail(e.Pos(), hint, "%s is not a distribution", e)
		return nil
	}
	if c.Func == jointName {
		return l.joint(c)
	}
	for _, k := range combinators() {
		if k.name != c.Func {
			continue
		}
		args, ok := l.arguments(c, k.function)
		if !ok {
			return nil
		}
		return k.density(l, c, args)
	}
	d, ok := dist.Lookup(c.Func)
	if !ok {
		hint := cmp.Or(writtenHere(c.Func), spell.Question(c.Func, DensityNames(), "d3p help distributions lists them"))
		if _, isFunction := functionNamed(c.Func); isFunction {
			hint = c.Func + " is a function"
		}
		l.fail(c.At, hint, "unknown distribution %s", c.Func)
		for _, a := range c.Args {
			l.node(a.Value)
		}
		return nil
	}
	if a, ok := l.applied(c, d); ok {
		return a
	}
	return nil
}
