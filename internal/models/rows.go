package models

import (
	"maps"
	"strconv"

	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
)

// columns gives the columns that the rows block reads their nodes.
func (g *build) columns() {
	u, d := g.c.usage, &g.c.spec.Data
	g.derivations = make(map[*data.Column]expr.Value)
	for _, dim := range g.c.core.Dims {
		if u.dims[dim.Name.V] && g.env.Design[dim.Name.V] == nil {
			g.design(dim)
		}
	}
	for _, column := range d.Columns {
		name := column.Name.V
		if u.named[name] || u.raw[name] {
			g.env.Values[name] = g.column(column)
		}
		if indicator := name + data.IndicatorSuffix; column.Missing.Indicator.V && u.named[indicator] {
			g.env.Values[indicator] = expr.Value{Node: g.read(g.c.encoder.Missing(column))}
		}
	}
	for _, column := range d.Derived {
		if name := column.Name.V; u.named[name] || u.raw[name] {
			g.env.Values[name] = g.derived(column)
		}
	}
	g.tensors()
	for label := range u.labels {
		if factors, ok := d.Factors(label); ok {
			g.env.Coefficients[label] = g.product(factors)
		}
	}
}

// column is the value of a column's name in an expression: a number on its declared
// scale, the 0 or 1 of a binary column, the code of a category.
func (g *build) column(c *data.Column) expr.Value {
	if !c.Numeric() {
		v := expr.Value{Node: g.read(g.c.encoder.Code(c, encoding.Predictor))}
		v.Labels = c.LevelNames()
		return v
	}
	var v expr.Value
	if g.c.usage.named[c.Name.V] {
		v.Node = g.read(g.c.encoder.Scaled(c, encoding.Predictor))
	}
	if g.c.usage.raw[c.Name.V] {
		v.Raw = g.read(g.c.encoder.Raw(c, encoding.Exposure))
	}
	if v.Node == nil {
		v.Node = v.Raw
	}
	return v
}

// design is the vector of predictors that label a dim. Single columns take
// neighbouring places in the encoded record, so that the vector is a block of
// it; an interaction makes it a derived block.
func (g *build) design(dim *core.Dim) {
	size := g.c.dims[dim.Name.V].Size
	parts := make([]*graph.Node, 0, size)
	for _, label := range dim.Labels {
		factors, ok := g.c.spec.Data.Factors(label.V)
		if !ok {
			g.c.errs.Add(label.At, "a label is a column, column=level for a category, or a product a:b", "label %s of dim %s is no predictor", label.V, dim.Name.V)
			parts = append(parts, g.b.Const(0))
			continue
		}
		parts = append(parts, g.product(factors))
	}
	if len(parts) == size && size > 0 {
		g.env.Design[dim.Name.V] = g.b.Stack(graph.Dim{Name: dim.Name.V, Size: size}, parts...)
	}
}

// product is the product of a coefficient's factors.
func (g *build) product(factors []data.Factor) *graph.Node {
	var x *graph.Node
	for _, f := range factors {
		n := g.factor(f)
		if x == nil {
			x = n
		} else {
			x = g.b.Mul(x, n)
		}
	}
	return x
}

// factor is the value of one factor.
func (g *build) factor(f data.Factor) *graph.Node {
	if f.Column.Derive != nil {
		x := g.derived(f.Column).Node
		if f.Level >= 0 {
			x = g.b.Equal(x, g.b.Const(float64(f.Level)))
		}
		return x
	}
	return g.read(g.c.encoder.Factor(f))
}

// derived is the value of a derived column: its expression of the record's own columns
// in the unit of the file, within its bounds, then transformed and scaled.
func (g *build) derived(c *data.Column) expr.Value {
	if v, ok := g.derivations[c]; ok {
		return v
	}
	if c.Type.V == data.Category || c.Type.V == data.Ordinal {
		v := expr.Value{Node: g.level(c), Labels: c.LevelNames()}
		g.derivations[c] = v
		return v
	}
	x := g.own(c, c.Derive.Expr)
	v := expr.Value{Node: x, Raw: x}
	if c.Numeric() {
		v.Raw = g.b.Min(g.b.Max(x, g.b.Const(c.Lower.V)), g.b.Const(c.Upper.V))
		center, by := c.Scale()
		v.Node = g.b.Mul(g.b.Sub(g.transformed(c, v.Raw), g.b.Const(center)), g.b.Const(1/by))
	} else {
		v.Labels, v.Raw = c.LevelNames(), x
	}
	g.derivations[c] = v
	return v
}

// own is the value of an expression of the record's own columns in the unit of the file,
// for the derived column c.
func (g *build) own(c *data.Column, e expr.Expr) *graph.Node {
	env := g.c.environment()
	for _, name := range expr.Names(e) {
		switch of := g.c.spec.Data.Column(name); {
		case of == nil: // reported
		case of.Derive != nil:
			v := g.derived(of)
			if v.Raw == nil {
				env.Values[name] = v
			} else {
				env.Values[name] = expr.Value{Node: v.Raw, Raw: v.Raw}
			}
		case of.Numeric():
			raw := g.read(g.c.encoder.Raw(of, encoding.Exposure))
			env.Values[name] = expr.Value{Node: raw, Raw: raw}
		default:
			env.Values[name] = expr.Value{Node: g.read(g.c.encoder.Code(of, encoding.Predictor)), Labels: of.LevelNames()}
		}
	}
	x, errs := expr.Lower(e, env, g.b)
	g.c.errs = append(g.c.errs, errs...)
	if x == nil || len(x.Shape()) > 0 {
		if x != nil {
			g.c.errs.Add(c.Derive.Text.At, "", "derived column %s is no single number", c.Name.V)
		}
		x = g.b.Const(0)
	}
	return x
}

// transformed applies the declared transform of a column.
func (g *build) transformed(c *data.Column, x *graph.Node) *graph.Node {
	switch c.Transform.V {
	case "":
		return x
	case "log":
		return g.b.Log(x)
	case "log1p":
		return g.b.Log1p(x)
	case "sqrt":
		return g.b.Sqrt(x)
	case "logit":
		return g.b.Sub(g.b.Log(x), g.b.Log1p(g.b.Neg(x)))
	}
	panic("models: the transform " + c.Transform.V + " has no nodes")
}

// labelsOf lists the columns that a dim's labels name, or nil when one of them
// names none.
func (c *compiler) labelsOf(dim string) []*data.Column {
	d, ok := c.dims[dim]
	if !ok {
		return nil
	}
	columns := make([]*data.Column, 0, d.Size)
	for _, label := range d.Labels {
		column := c.spec.Data.Column(label)
		if column == nil {
			return nil
		}
		columns = append(columns, column)
	}
	return columns
}

// read is an encoded column of the row that the rows block reads.
func (g *build) read(place int) *graph.Node { return g.b.Column(g.block + place) }

// unit is log p(record | θ) of a unit: Σ over its rows of log p(row | θ). The rows block
// is lowered once for every row that a unit may have, each time with the columns of
// another block of the record; values of parameters only are the same node in all. A
// missing row counts as zero, in value and gradient. With `views` the rows block is also
// lowered once for every view, and the value is the mean. So the gradient of a record, which
// the engine clips, is the gradient of a unit. See Encoding.Width.
func (g *build) unit(e encoding.Encoding) *graph.Node {
	g.guided, g.training = true, true
	views := g.c.spec.Likelihood.Views.Or(1)
	if e.RowsPerUnit <= 1 && views == 1 {
		g.rows()
		return g.logLikelihood(nil)
	}
	terms := make([]*graph.Node, 0, e.RowsPerUnit*views)
	global := g.env
	for i := range max(1, e.RowsPerUnit) {
		for g.view = range views {
			env := *global
			env.Design, env.Coefficients = maps.Clone(global.Design), maps.Clone(global.Coefficients)
			g.env, g.block = &env, i*(e.K+1)
			g.rows()
			term := g.logLikelihood(nil)
			if e.RowsPerUnit > 1 {
				term = g.b.Where(g.read(e.K), term, g.b.Const(0))
			}
			terms = append(terms, term)
		}
	}
	return g.b.Mul(g.b.AddAll(terms...), g.b.Const(1/float64(views)))
}

// recordNoise is standard normal noise of a record, new in every step, for one view of one
// of its rows.
func (g *build) recordNoise(name string, shape graph.Shape) *graph.Node {
	name += " at " + strconv.Itoa(g.block)
	if g.view > 0 {
		name += " in view " + strconv.Itoa(g.view)
	}
	return g.b.Aux(name, shape, true)
}
