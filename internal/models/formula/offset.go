package formula

import (
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
)

// rawColumns returns an offset's expression with every numeric column read in
// the unit of the file, raw(column): the logarithm of an exposure has no
// meaning on a standardised scale.
func rawColumns(e expr.Expr, d *data.Data) expr.Expr {
	switch e := e.(type) {
	case *expr.Name:
		if c := d.Column(e.ID); c != nil && c.Numeric() {
			return &expr.Call{At: e.At, Func: "raw", Args: []expr.Argument{{At: e.At, Value: e}}}
		}
	case *expr.Unary:
		return &expr.Unary{At: e.At, Op: e.Op, X: rawColumns(e.X, d)}
	case *expr.Binary:
		return &expr.Binary{At: e.At, Op: e.Op, X: rawColumns(e.X, d), Y: rawColumns(e.Y, d)}
	case *expr.Call:
		c := &expr.Call{At: e.At, Func: e.Func}
		for _, a := range e.Args {
			c.Args = append(c.Args, expr.Argument{At: a.At, Name: a.Name, Value: rawColumns(a.Value, d)})
		}
		return c
	case *expr.Index:
		return &expr.Index{At: e.At, X: rawColumns(e.X, d), Indices: e.Indices}
	case *expr.Member:
		return &expr.Member{At: e.At, X: rawColumns(e.X, d), Name: e.Name}
	case *expr.List:
		list := &expr.List{At: e.At}
		for _, x := range e.Items {
			list.Items = append(list.Items, rawColumns(x, d))
		}
		return list
	}
	return e
}
