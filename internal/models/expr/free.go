package expr

import (
	"maps"

	"d3p/internal/models/dist"
	"d3p/internal/models/graph"
)

// Range is the range of a numeric column: its declared bounds and scale.
type Range struct {
	Lower, Upper, Center, By float64
	Whole                    bool // whole numbers
	Transformed              bool
}

// freePoints is the number of points at which the law of a free density is known, and the
// most whole numbers that it may have.
const freePoints = 401

// logDensity lowers log_density(y, expression): the expression is the log density of the
// observed column y, a number, given the parameters and the record's other columns.
func logDensity(l *lowering, c *Call, args []Expr) dist.Density {
	y, ok := args[0].(*Name)
	if !ok {
		l.fail(args[0].Pos(), "write log_density(y, ...) with the column that is observed", "%s is not a column", args[0])
		return nil
	}
	r, ok := l.env.Ranges[y.ID]
	switch {
	case !ok:
		l.fail(y.At, "name the column that is observed, a number", "log_density is not of %s", y.ID)
		return nil
	case r.Transformed:
		l.fail(y.At, "declare it without transform, and transform it in the expression", "%s has a transform", y.ID)
		return nil
	}
	f := dist.Free{Whole: r.Whole && r.Upper-r.Lower < freePoints}
	points := make([]float64, freePoints)
	if f.Whole {
		points = points[:int(r.Upper-r.Lower)+1]
	}
	for i := range points {
		x := r.Lower + (r.Upper-r.Lower)*float64(i)/float64(len(points)-1)
		points[i] = (x - r.Center) / r.By
	}
	along := graph.Shape{{Name: dist.FreeDim, Size: len(points)}}
	at := func(x *graph.Node) (*graph.Node, Errors) {
		env := *l.env
		env.Values = maps.Clone(env.Values)
		raw := l.b.Add(l.b.Const(r.Center), l.b.Mul(l.b.Const(r.By), x))
		env.Values[y.ID] = Value{Node: x, Raw: raw}
		inner := lowering{env: &env, b: l.b}
		return inner.node(args[1]), inner.errs
	}
	f.Points = l.b.Consts(along, points)
	log, errs := at(f.Points)
	l.errs = append(l.errs, errs...)
	if log == nil {
		return nil
	}
	for _, d := range log.Shape() {
		if d.Name != dist.FreeDim {
			l.fail(args[1].Pos(), "add them up: sum(..., over="+d.Name+")", "the log density has a number for each element of dim %s", d.Name)
			return nil
		}
	}
	f.Log = l.b.Expand(log, along)
	f.At = func(x *graph.Node) *graph.Node {
		n, _ := at(x)
		return n
	}
	return f
}

// FreeOf is the column whose log density is an expression, and that expression; nil for
// other distributions.
func FreeOf(e Expr) (column *Name, log Expr) {
	c, ok := e.(*Call)
	if !ok || c.Func != "log_density" || len(c.Args) != 2 {
		return nil, nil
	}
	column, _ = c.Args[0].Value.(*Name)
	return column, c.Args[1].Value
}
