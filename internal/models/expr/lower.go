package expr

import (
	"fmt"
	"math"
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/spell"
)

// Lower turns an expression into a node of b. The node is nil exactly when
// there are mistakes; all of them are returned, each with its place.
func Lower(e Expr, env *Env, b *graph.Builder) (*graph.Node, Errors) {
	l := lowering{env: env, b: b}
	n := l.node(e)
	if len(l.errs) > 0 {
		l.errs.Sort()
		return nil, l.errs
	}
	return n, nil
}

// lowering is one pass over a tree. After reporting a mistake its methods return nil and
// continue with the parts that do not depend on it.
type lowering struct {
	env  *Env
	b    *graph.Builder
	errs Errors
}

func (l *lowering) fail(at Position, hint, format string, args ...any) *graph.Node {
	l.errs.Add(at, hint, format, args...)
	return nil
}

// checked passes n on, or reports the Builder's complaint about it.
func (l *lowering) checked(at Position, n *graph.Node) *graph.Node {
	if err := l.b.TakeErr(); err != nil {
		return l.fail(at, "", "%v", err)
	}
	if n.Bad() {
		return nil
	}
	if n.Size() > maxElements {
		return l.fail(at, "", "%v has %d elements, more than %d", n.Shape(), n.Size(), maxElements)
	}
	return n
}

// maxElements bounds an intermediate result, so that a mistake in dims cannot
// exhaust memory.
const maxElements = 1 << 24

func (l *lowering) node(e Expr) *graph.Node {
	switch e := e.(type) {
	case *Number:
		return l.b.Const(e.Value)
	case *Name:
		return l.name(e)
	case *Text:
		return l.fail(e.At, "labels serve as an index, u[hospital, 'label'], or beside a category, sex == 'male'", "the label %s is no number", e)
	case *Unary:
		return l.unary(e)
	case *Binary:
		return l.binary(e)
	case *Index:
		return l.index(e)
	case *Call:
		return l.call(e)
	case *Member:
		return l.member(e)
	case *List:
		return l.fail(e.At, "lists serve as arguments such as knots=[30, 90]", "a list is no number")
	}
	panic(fmt.Sprintf("expr: %T is no expression", e))
}

// constants are the names that need no declaration.
var constants = map[string]float64{"pi": math.Pi, "inf": math.Inf(1)}

func (l *lowering) name(e *Name) *graph.Node {
	if v, ok := l.env.Values[e.ID]; ok {
		return v.Node
	}
	if c, ok := constants[e.ID]; ok {
		return l.b.Const(c)
	}
	if slices.Contains(l.env.Columns, e.ID) {
		return l.fail(e.At, "move it to rows: let:, or use a declared constant", "column %s has a value only inside rows:", e.ID)
	}
	if _, ok := l.env.Dims[e.ID]; ok {
		return l.fail(e.At, "dims serve as an index or as over="+e.ID, "%s is a dim, not a number", e.ID)
	}
	if _, ok := functionNamed(e.ID); ok {
		return l.fail(e.At, "write "+e.ID+"(...)", "%s is a function", e.ID)
	}
	return l.fail(e.At, spell.Question(e.ID, l.env.names(), "declare it under params: or let:"), "unknown name %s", e.ID)
}

func (l *lowering) unary(e *Unary) *graph.Node {
	x := l.node(e.X)
	if x == nil {
		return nil
	}
	if e.Op == "not" {
		return l.checked(e.At, l.b.Equal(x, l.b.Const(0)))
	}
	return l.checked(e.At, l.b.Neg(x))
}

func (l *lowering) binary(e *Binary) *graph.Node {
	if n, ok := l.level(e); ok {
		return n
	}
	x, y := l.node(e.X), l.node(e.Y)
	if x == nil || y == nil {
		return nil
	}
	if e.Op == "@" {
		return l.product(e.At, x, y)
	}
	return l.checked(e.At, operators[e.Op](l.b, x, y))
}

// operators are the element-wise operators; conditions are 1 or 0. It is not to
// be changed at run time.
var operators = map[string]func(b *graph.Builder, x, y *graph.Node) *graph.Node{
	"+":  (*graph.Builder).Add,
	"-":  (*graph.Builder).Sub,
	"*":  (*graph.Builder).Mul,
	"/":  (*graph.Builder).Div,
	"^":  (*graph.Builder).Pow,
	"<":  (*graph.Builder).Less,
	"==": (*graph.Builder).Equal,
	">":  func(b *graph.Builder, x, y *graph.Node) *graph.Node { return b.Less(y, x) },
	"<=": func(b *graph.Builder, x, y *graph.Node) *graph.Node { return not(b, b.Less(y, x)) },
	">=": func(b *graph.Builder, x, y *graph.Node) *graph.Node { return not(b, b.Less(x, y)) },
	"!=": func(b *graph.Builder, x, y *graph.Node) *graph.Node { return not(b, b.Equal(x, y)) },
	"and": func(b *graph.Builder, x, y *graph.Node) *graph.Node {
		return b.Where(x, b.Where(y, b.Const(1), b.Const(0)), b.Const(0))
	},
	"or": func(b *graph.Builder, x, y *graph.Node) *graph.Node {
		return b.Where(x, b.Const(1), b.Where(y, b.Const(1), b.Const(0)))
	},
}

// not is 1 - x, for an x that is 0 or 1.
func not(b *graph.Builder, x *graph.Node) *graph.Node { return b.Sub(b.Const(1), x) }

// level lowers the comparison of a category with one of its levels, on either
// side; ok is false for any other operation.
func (l *lowering) level(e *Binary) (n *graph.Node, ok bool) {
	column, isName := e.X.(*Name)
	label, isText := e.Y.(*Text)
	if !isName || !isText {
		label, isText = e.X.(*Text)
		column, isName = e.Y.(*Name)
	}
	if !isName || !isText || e.Op != "==" && e.Op != "!=" {
		return nil, false
	}
	v, known := l.env.Values[column.ID]
	switch {
	case !known:
		return l.name(column), true
	case v.Labels == nil:
		return l.fail(label.At, "", "%s is no category and has no level %s", column.ID, label), true
	}
	i := slices.Index(v.Labels, label.Value)
	if i < 0 {
		return l.fail(label.At, spell.Question(label.Value, v.Labels, "see its levels: in the data block"), "%s has no level %s", column.ID, label), true
	}
	return operators[e.Op](l.b, v.Node, l.b.Const(float64(i))), true
}

// product is x @ y: the last dim of x with the first of y, which must be the
// same dim. A dim that would occur twice in the result gets a prime.
func (l *lowering) product(at Position, x, y *graph.Node) *graph.Node {
	xs, ys := x.Shape(), y.Shape()
	if len(xs) == 0 || len(ys) == 0 {
		return l.fail(at, "use * to multiply numbers", "@ needs a dim on both sides, not %v @ %v", xs, ys)
	}
	if k, m := xs[len(xs)-1].Name, ys[0].Name; Unprimed(k) != Unprimed(m) {
		hint := "transpose one side so that the same dim meets"
		if len(xs) == 1 && len(ys) == 1 {
			hint = "both must have the same dim"
		}
		return l.fail(at, hint, "@ sums over the last dim of the left and the first of the right, which differ: %v @ %v", xs, ys)
	}
	kept := slices.Clone(xs[:len(xs)-1])
	for _, d := range ys[1:] {
		name := primed(d.Name, kept)
		if name != d.Name {
			// The contracted dim moves away first, because MatMul joins by place.
			y = l.b.Rename(y, ys[0].Name, "(contracted)")
			y = l.b.Rename(y, d.Name, name)
			ys = y.Shape()
		}
		kept = append(kept, graph.Dim{Name: name, Size: d.Size})
	}
	return l.checked(at, l.b.MatMul(x, y))
}
