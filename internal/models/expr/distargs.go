package expr

import (
	"fmt"
	"math"
	"slices"

	"d3p/internal/models/dist"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
	"d3p/internal/spell"
)

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

// place puts the arguments of a call in the order of d.Args. Positional ones skip the
// alternatives, which need names. It reports unknown, repeated, conflicting and missing
// arguments.
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
			l.fail(a.At, spell.Question(name, names, "its arguments are "+signature(d)), "%s has no argument %s", d.Name, name)
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

// Constant arguments of distributions other than 0 have a size between these: densities have
// their squares and products with other numbers.
const leastArgument, mostArgument = 1e-30, 1e30

// fits reports an argument whose value or declared support is invalid, or that lacks event
// dims.
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
		if math.IsNaN(v) || a.Support.EventRank() == 0 && !a.Support.Whole().Contains([]float64{v}) {
			l.fail(e.Pos(), "", "argument %s of %s is %g, must be %v", a.Name, c.Func, v, a.Support)
		} else if size := math.Abs(v); v != 0 && !(size >= leastArgument && size <= mostArgument) {
			l.fail(e.Pos(), "write numbers of ordinary size, and give the columns a scale to suit them", "argument %s of %s is %g, and the squares of such numbers leave their range; d3p calculates with %g to %g", a.Name, c.Func, v, leastArgument, mostArgument)
		}
		return
	}
	name, ok := e.(*Name)
	if !ok {
		return
	}
	if v := l.env.Values[name.ID]; v.Support != nil && !a.Support.Whole().Covers(*v.Support) {
		hint := ""
		if a.Support == support.Positive {
			hint = "give it a positive prior such as half_normal(1), or use exp(" + name.ID + ")"
		}
		l.fail(e.Pos(), hint, "argument %s of %s must be %v, but %s is %v", a.Name, c.Func, a.Support, name.ID, *v.Support)
	}
}

// fitsList reports a list of numbers that is no valid argument: as one event if the
// argument must be an event, else number by number.
func (l *lowering) fitsList(c *Call, a dist.Arg, list *List) {
	values := make([]float64, len(list.Items))
	for i, item := range list.Items {
		values[i], _ = l.constant(item, "an element of the list")
		if a.Support.EventRank() == 0 && !a.Support.Whole().Contains(values[i:i+1]) {
			l.fail(item.Pos(), "", "argument %s of %s is %g, must be %v", a.Name, c.Func, values[i], a.Support)
		}
	}
	if a.Support.EventRank() > 0 && !a.Support.Whole().Contains(values) {
		l.fail(list.At, "", "argument %s of %s must be %v", a.Name, c.Func, a.Support)
	}
}
