package expr

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"d3p/internal/models/dist"
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/spell"
)

// function is a function of the language. Params name its arguments in order;
// the last `optional` of them may be absent, and are then nil.
type function struct {
	name     string
	params   []string
	optional int
	apply    func(l *lowering, c *Call, args []Expr) *graph.Node
}

// functionTable lists the functions; a new one is a line in one of its parts.
// (They are functions, not variables: a table of functions that look each
// other up in the table cannot be initialised.)
func functionTable() []function {
	return slices.Concat(elementwise(), reductions(), shapes(), columnFunctions(), bases())
}

func functionNamed(name string) (function, bool) {
	for _, f := range functionTable() {
		if f.name == name {
			return f, true
		}
	}
	return function{}, false
}

// FunctionNames lists the functions of the language.
func FunctionNames() []string {
	var names []string
	for _, f := range functionTable() {
		names = append(names, f.name)
	}
	return names
}

// Signatures lists the functions, and the forms that combine densities, with their
// arguments in alphabetical order. Arguments in [ ] may be left out.
func Signatures() (functions, forms []string) {
	for _, f := range functionTable() {
		functions = append(functions, f.signature())
	}
	for _, f := range combinators() {
		forms = append(forms, f.signature())
	}
	forms = append(forms, jointName+"(dim, label=density, ...)")
	slices.Sort(functions)
	slices.Sort(forms)
	return functions, forms
}

// signature is the function with its arguments: softmax(x[, over]).
func (f function) signature() string {
	needed := len(f.params) - f.optional
	text := f.name + "(" + strings.Join(f.params[:needed], ", ")
	if f.optional > 0 {
		more := strings.Join(f.params[needed:], ", ")
		if needed > 0 {
			more = ", " + more
		}
		text += "[" + more + "]"
	}
	return text + ")"
}

func (l *lowering) call(c *Call) *graph.Node {
	f, ok := functionNamed(c.Func)
	n, isNet := l.env.Nets[c.Func]
	switch {
	case isNet:
		return l.network(c, n, "", c.At)
	case ok:
		args, ok := l.arguments(c, f)
		if !ok {
			return nil
		}
		return f.apply(l, c, args)
	case isDensity(c.Func):
		return l.distributionInExpression(c)
	case l.mixes(c):
		return nil
	}
	for _, a := range c.Args {
		if _, isText := a.Value.(*Text); !isText {
			l.node(a.Value) // also reports mistakes inside
		}
	}
	known := slices.Concat(FunctionNames(), dist.Names(), slices.Collect(maps.Keys(l.env.Nets)))
	return l.fail(c.At, cmp.Or(writtenHere(c.Func), spell.Question(c.Func, known, "d3p help distributions lists them")), "unknown function %s", c.Func)
}

// arguments puts the arguments of c in the order of f.params.
func (l *lowering) arguments(c *Call, f function) ([]Expr, bool) {
	args := make([]Expr, len(f.params))
	ok := true
	for i, a := range c.Args {
		at := i
		if a.Name != "" {
			at = slices.Index(f.params, a.Name)
			if at < 0 {
				l.fail(a.At, spell.Question(a.Name, f.params, ""), "%s has no argument %s", f.name, a.Name)
				ok = false
				continue
			}
		}
		if at >= len(args) {
			l.fail(a.At, "", "%s takes %d arguments, not %d", f.name, len(args), len(c.Args))
			return nil, false
		}
		if args[at] != nil {
			l.fail(a.At, "", "argument %s of %s is given twice", f.params[at], f.name)
			ok = false
		}
		args[at] = a.Value
	}
	for i := range len(args) - f.optional {
		if args[i] == nil && ok { // after a misspelt name, its absence is no news
			l.fail(c.At, "", "%s needs its argument %s", f.name, f.params[i])
			ok = false
		}
	}
	return args, ok
}

// nodes lowers arguments; ok is false if one has a mistake.
func (l *lowering) nodes(args []Expr) (nodes []*graph.Node, ok bool) {
	ok = true
	for _, a := range args {
		n := l.node(a)
		nodes = append(nodes, n)
		ok = ok && n != nil
	}
	return nodes, ok
}

// pure makes a function of numbers from a constructor of nodes.
func pure(name string, params []string, make func(b *graph.Builder, x []*graph.Node) *graph.Node) function {
	return function{name: name, params: params, apply: func(l *lowering, c *Call, args []Expr) *graph.Node {
		x, ok := l.nodes(args)
		if !ok {
			return nil
		}
		return l.checked(c.At, make(l.b, x))
	}}
}

// unary makes a function of one number.
func unary(name string, make func(b *graph.Builder, x *graph.Node) *graph.Node) function {
	return pure(name, []string{"x"}, func(b *graph.Builder, x []*graph.Node) *graph.Node { return make(b, x[0]) })
}

// elementwise lists the functions that work element by element.
func elementwise() []function {
	return []function{
		unary("exp", (*graph.Builder).Exp),
		unary("log", family.LogOf),
		unary("log1p", (*graph.Builder).Log1p),
		unary("expm1", (*graph.Builder).Expm1),
		unary("sqrt", (*graph.Builder).Sqrt),
		unary("square", (*graph.Builder).Square),
		unary("abs", (*graph.Builder).Abs),
		unary("floor", (*graph.Builder).Floor),
		unary("sin", (*graph.Builder).Sin),
		unary("cos", (*graph.Builder).Cos),
		unary("atan", (*graph.Builder).Atan),
		unary("lgamma", (*graph.Builder).Lgamma),
		unary("erf", (*graph.Builder).Erf),
		unary("sigmoid", (*graph.Builder).Sigmoid),
		unary("log_sigmoid", (*graph.Builder).LogSigmoid),
		unary("softplus", (*graph.Builder).Softplus),
		unary("tanh", (*graph.Builder).Tanh),
		unary("relu", (*graph.Builder).Relu),
		unary("gelu", (*graph.Builder).Gelu),
		unary("probit_cdf", (*graph.Builder).NormalCDF),
		// logit(p) = log(p/(1-p)) and cloglog(p) = log(-log(1-p)) are links, sigmoid
		// and inv_cloglog(x) = 1 - exp(-exp(x)) their inverses.
		unary("logit", func(b *graph.Builder, p *graph.Node) *graph.Node {
			return b.Sub(family.LogOf(b, p), family.Log1mOf(b, p))
		}),
		unary("cloglog", func(b *graph.Builder, p *graph.Node) *graph.Node {
			return b.Log(b.Neg(family.Log1mOf(b, p)))
		}),
		unary("inv_cloglog", func(b *graph.Builder, x *graph.Node) *graph.Node {
			return b.Neg(b.Expm1(b.Neg(b.Exp(x))))
		}),
		// tan_half is the link 2 atan(x) of an angle.
		unary("tan_half", func(b *graph.Builder, x *graph.Node) *graph.Node {
			return b.Mul(b.Const(2), b.Atan(x))
		}),
		pure("pow", []string{"x", "y"}, func(b *graph.Builder, x []*graph.Node) *graph.Node { return b.Pow(x[0], x[1]) }),
		pure("clip", []string{"x", "lower", "upper"}, func(b *graph.Builder, x []*graph.Node) *graph.Node {
			return b.Min(b.Max(x[0], x[1]), x[2])
		}),
		pure("where", []string{"condition", "x", "y"}, func(b *graph.Builder, x []*graph.Node) *graph.Node {
			return b.Where(x[0], x[1], x[2])
		}),
	}
}

// constant is the value of an expression of numbers alone.
func (l *lowering) constant(e Expr, what string) (float64, bool) {
	n := l.node(e)
	if n == nil {
		return 0, false
	}
	v, ok := n.Value()
	if !ok || math.IsNaN(v) {
		l.fail(e.Pos(), "", "%s must be a number, not %s", what, e)
		return 0, false
	}
	return v, true
}
