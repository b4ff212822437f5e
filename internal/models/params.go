package models

import (
	"slices"
	"strings"

	"d3p/internal/models/core"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
	"d3p/internal/spell"
)

// prior is the declaration of a parameter.
type prior struct {
	definition   *core.Definition
	distribution expr.Expr // without its dims
	shape        graph.Shape
	free         graph.Shape // of its unconstrained scalars
	support      support.Support
	elements     []element // single values with separate priors
	// broken marks a replacement for a parameter with a mistake, so that the mistake is
	// reported once and not at each use.
	broken bool
}

// element is one value of a parameter with its own prior.
type element struct {
	definition *core.Definition
	at         int // row-major
}

// dimensions resolves `dims:`.
func (c *compiler) dimensions() {
	c.dims = make(map[string]expr.Dim)
	for _, d := range c.core.Dims {
		name := d.Name.V
		if _, twice := c.dims[name]; twice {
			c.errs.Add(d.Name.At, "", "dim %s is declared twice", name)
		}
		switch {
		case d.Size.IsSet():
			c.dims[name] = expr.Dim{Size: d.Size.V, Labels: expr.NumberedLabels(d.Size.V)}
		case d.Of.IsSet():
			column := c.spec.Data.Column(d.Of.V)
			if column == nil || len(column.Levels) == 0 {
				c.errs.Add(d.Of.At, "", "levels(%s) needs a declared column with levels", d.Of.V)
				c.dims[name] = expr.Dim{Size: 1, Labels: expr.NumberedLabels(1)}
				continue
			}
			c.dims[name] = expr.Dim{Size: len(column.Levels), Labels: column.LevelNames()}
		default:
			labels := make([]string, len(d.Labels))
			for i, l := range d.Labels {
				labels[i] = l.V
			}
			c.dims[name] = expr.Dim{Size: len(labels), Labels: labels}
		}
	}
	c.tensorDims()
}

// parameters finds the shape, support and place of every parameter. Priors may
// name parameters declared before or after them, but not in a circle.
func (c *compiler) parameters() {
	scratch := &build{c: c, b: graph.NewBuilder(), env: c.environment()}
	scratch.scales()
	scratch.tables()
	c.nets(scratch)
	known := make(map[string]*prior)
	var order []*core.Definition
	for _, d := range c.core.Params {
		if !strings.Contains(d.Name.V, "[") {
			order = append(order, d)
		}
	}
	for _, d := range c.ordered(append(order[:len(order):len(order)], c.core.Let...)) {
		if slices.Contains(c.core.Let, d) {
			scratch.define(d)
			continue
		}
		p := c.parameter(d, scratch)
		known[d.Name.V] = p
		leaf := scratch.b.Param(d.Name.V, p.free)
		value, _ := support.TransformFor(p.support).Apply(scratch.b, leaf, p.shape)
		scratch.env.Values[d.Name.V] = p.value(value)
	}
	for _, d := range order {
		p := known[d.Name.V]
		if p == nil {
			continue
		}
		param := Param{
			Name: d.Name.V, Dims: c.labelled(p.shape), Offset: c.size, Size: p.free.Size(),
			At: c.constrained(), ConstrainedSize: p.shape.Size(), Transform: support.TransformFor(p.support), Prior: d.Text.V,
		}
		c.size += param.Size
		c.params = append(c.params, param)
		c.priors = append(c.priors, *p)
	}
	c.elements(scratch)
	c.weights(scratch)
}

// parameter reads one `name: prior(args) [dims]`; after a mistake the result is a broken
// replacement.
func (c *compiler) parameter(d *core.Definition, scratch *build) *prior {
	distribution, dims, errs := expr.SplitDims(d.Expr)
	shape, more := scratch.env.Shape(dims)
	density, bad := expr.LowerDensity(distribution, scratch.env, scratch.b)
	p := &prior{definition: d, distribution: distribution, shape: shape, free: shape, broken: true}
	if errs = append(append(errs, more...), bad...); len(errs) > 0 {
		c.errs = append(c.errs, errs...)
		return p
	}
	at, values := distribution.Pos(), density.Support()
	transform := support.TransformFor(values)
	if transform == nil {
		c.errs.Add(at, "sum discrete quantities out with mixture()", "parameter %s would be %s: only continuous parameters can be fitted", d.Name.V, values)
		return p
	}
	err := density.Fits(shape)
	if err == nil {
		p.free, err = transform.FreeShape(shape)
	}
	if err != nil {
		hint := ""
		if strings.Contains(err.Error(), "dim") {
			hint = "declare its dims in brackets: prior(...) [dim]"
		}
		c.errs.Add(at, hint, "%v", err)
		p.free = shape
		return p
	}
	p.support, p.broken = values, false
	return p
}

// value is the meaning of the parameter's name.
func (p *prior) value(n *graph.Node) expr.Value {
	if p.broken {
		return expr.Value{Node: n}
	}
	return expr.Value{Node: n, Support: &p.support}
}

// elements reads the priors of single values, `name[label]: prior(args)`.
func (c *compiler) elements(scratch *build) {
	for _, d := range c.core.Params {
		base, _, single := strings.Cut(d.Name.V, "[")
		if !single || d.Expr == nil {
			continue
		}
		i, at := c.find(base, d.Name.V)
		if i < 0 {
			c.errs.Add(d.Name.At, spell.Question(d.Name.V, c.elementNames(), ""), "no parameter %s", d.Name.V)
			continue
		}
		density, errs := expr.LowerDensity(d.Expr, scratch.env, scratch.b)
		c.errs = append(c.errs, errs...)
		switch {
		case len(errs) > 0 || c.priors[i].broken:
		case density.Support() != c.priors[i].support:
			c.errs.Add(d.Text.At, "", "%s must be %s as all of %s, not %s", d.Name.V, c.priors[i].support, base, density.Support())
		default:
			if err := density.Fits(nil); err != nil {
				c.errs.Add(d.Text.At, "", "%v", err)
			}
			c.priors[i].elements = append(c.priors[i].elements, element{d, at})
		}
	}
}

// find returns the parameter base and the place of its value named name; the parameter is
// -1 if none fits.
func (c *compiler) find(base, name string) (param, at int) {
	packed := func(name string) string { return strings.ReplaceAll(name, ", ", ",") }
	for i := range c.params {
		if c.params[i].Name != base {
			continue
		}
		elements := c.params[i].Elements()
		at = slices.Index(elements, name)
		if at < 0 {
			at = slices.IndexFunc(elements, func(element string) bool { return packed(element) == packed(name) })
		}
		if at >= 0 {
			return i, at
		}
	}
	return -1, 0
}

// elementNames names every single value of every parameter.
func (c *compiler) elementNames() []string {
	var names []string
	for i := range c.params {
		names = append(names, c.params[i].Elements()...)
	}
	return names
}
