package expr

import (
	"fmt"
	"math"
	"slices"

	"d3p/internal/models/dist"
	"d3p/internal/models/graph"
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
	}
}

type combinator struct {
	function
	density func(l *lowering, c *Call, args []Expr) dist.Density
}

// isDensity says whether a name is that of a distribution or a combinator.
func isDensity(name string) bool {
	_, ok := dist.Lookup(name)
	return ok || slices.ContainsFunc(combinators(), func(c combinator) bool { return c.name == name })
}

// DensityNames lists the distributions and combinators of the language.
func DensityNames() []string {
	names := dist.Names()
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
			hint = suggest(n.ID, DensityNames(), hint)
		}
		l.fail(e.Pos(), hint, "%s is not a distribution", e)
		return nil
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
		hint := suggest(c.Func, DensityNames(), "")
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

// applied lowers and checks the arguments of a distribution.
func (l *lowering) applied(c *Call, d *dist.Distribution) (dist.Applied, bool) {
	before := len(l.errs)
	exprs := l.place(c, d)
	args := make([]*graph.Node, len(d.Args))
	for i, e := range exprs {
		if e == nil {
			continue
		}
		if list, ok := e.(*List); ok && d.Args[i].Rank == 1 {
			args[i] = l.numbers(list, dist.ListDim)
		} else {
			args[i] = l.node(e)
		}
		if args[i] != nil {
			l.fits(c, d.Args[i], e, args[i])
		}
	}
	if len(l.errs) > before {
		return dist.Applied{}, false
	}
	return dist.Apply(l.b, d, args), true
}

// numbers lowers a list of numbers to a constant vector along a dim.
func (l *lowering) numbers(list *List, dim string) *graph.Node {
	values := make([]float64, len(list.Items))
	ok := true
	for i, item := range list.Items {
		v, isNumber := l.constant(item, "an element of the list")
		values[i] = v
		ok = ok && isNumber
	}
	switch {
	case !ok:
		return nil
	case len(values) == 0:
		return l.fail(list.At, "", "the list is empty")
	}
	return l.b.Consts(graph.Shape{{Name: dim, Size: len(values)}}, values)
}

// place puts the arguments of a call in the order of d.Args: positional ones
// skip the alternatives, which must be named. It reports what is unknown, given
// twice, in conflict or absent.
func (l *lowering) place(c *Call, d *dist.Distribution) []Expr {
	var names, positional []string
	for _, a := range d.Args {
		names = append(names, a.Name)
		if a.Instead == "" {
			positional = append(positional, a.Name)
		}
	}
	args := make([]Expr, len(d.Args))
	misspelt := false
	for i, a := range c.Args {
		name := a.Name
		if name == "" {
			if i >= len(positional) {
				l.fail(a.At, "", "%s takes %d arguments, not %d", d.Name, len(positional), len(c.Args))
				break
			}
			name = positional[i]
		}
		at := slices.Index(names, name)
		switch {
		case at < 0:
			misspelt = true
			l.fail(a.At, suggest(name, names, "its arguments are "+signature(d)), "%s has no argument %s", d.Name, name)
		case args[at] != nil:
			l.fail(a.At, "", "argument %s of %s is given twice", name, d.Name)
		default:
			args[at] = a.Value
		}
	}
	for i, a := range d.Args {
		if a.Instead != "" {
			if args[i] != nil && args[slices.Index(names, a.Instead)] != nil {
				l.fail(args[i].Pos(), "leave one out", "%s takes %s or %s, not both", d.Name, a.Instead, a.Name)
			}
			continue
		}
		if args[i] == nil && !misspelt && !a.Optional && !slices.ContainsFunc(d.Args, func(o dist.Arg) bool {
			return o.Instead == a.Name && args[slices.Index(names, o.Name)] != nil
		}) {
			l.fail(c.At, "its arguments are "+signature(d), "%s needs its argument %s", d.Name, either(d, a.Name))
		}
	}
	return args
}

// either is an argument's name with its alternatives: probs or logits.
func either(d *dist.Distribution, name string) string {
	out := name
	for _, a := range d.Args {
		if a.Instead == name {
			out += " or " + a.Name
		}
	}
	return out
}

// signature lists the arguments of a distribution with their defaults.
func signature(d *dist.Distribution) string {
	out := ""
	for _, a := range d.Args {
		if a.Instead != "" {
			continue
		}
		if out != "" {
			out += ", "
		}
		out += either(d, a.Name)
		if a.Optional {
			out += fmt.Sprintf("=%g", a.Default)
		}
	}
	return out
}

// fits reports an argument whose value or declared support cannot serve, or
// that lacks event dims.
func (l *lowering) fits(c *Call, a dist.Arg, e Expr, n *graph.Node) {
	if len(n.Shape()) < a.Rank && !(a.Scalar && len(n.Shape()) == 0) {
		l.fail(e.Pos(), "give it a dim", "argument %s of %s must be a %s", a.Name, c.Func, [...]string{"number", "vector", "matrix"}[a.Rank])
		return
	}
	if list, ok := e.(*List); ok {
		l.fitsList(c, a, list)
		return
	}
	if v, ok := n.Value(); ok {
		if math.IsNaN(v) || a.Support.EventRank() == 0 && !a.Support.Contains([]float64{v}) {
			l.fail(e.Pos(), "", "argument %s of %s is %g, must be %v", a.Name, c.Func, v, a.Support)
		}
		return
	}
	name, ok := e.(*Name)
	if !ok {
		return
	}
	if v := l.env.Values[name.ID]; v.Support != nil && !a.Support.Covers(*v.Support) {
		hint := ""
		if a.Support.Kind == dist.Positive {
			hint = "give it a positive prior such as half_normal(1), or use exp(" + name.ID + ")"
		}
		l.fail(e.Pos(), hint, "argument %s of %s must be %v, but %s is %v", a.Name, c.Func, a.Support, name.ID, *v.Support)
	}
}

// fitsList reports a list of numbers that do not serve as an argument: as an
// event if that is what the argument must be, else one by one.
func (l *lowering) fitsList(c *Call, a dist.Arg, list *List) {
	values := make([]float64, len(list.Items))
	for i, item := range list.Items {
		values[i], _ = l.constant(item, "an element of the list")
		if a.Support.EventRank() == 0 && !a.Support.Contains(values[i:i+1]) {
			l.fail(item.Pos(), "", "argument %s of %s is %g, must be %v", a.Name, c.Func, values[i], a.Support)
		}
	}
	if a.Support.EventRank() > 0 && !a.Support.Contains(values) {
		l.fail(list.At, "", "argument %s of %s must be %v", a.Name, c.Func, a.Support)
	}
}
