package models

import (
	"maps"

	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/dist"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
	"d3p/internal/models/net"
)

// build is one graph under construction: a Builder and the meaning of names in it.
type build struct {
	c      *compiler
	b      *graph.Builder
	env    *expr.Env
	logDet map[string]*graph.Node // of each parameter's transform, batch dims kept
	// inRows are, by name, the whitened coordinates that the rows block takes for
	// unconstrained parameters.
	inRows map[string]*graph.Node
	loss   *graph.Node
	// guided means that local latents come from their guide, which reads the record, and
	// not from their prior. correction is the resulting term of the loss.
	guided     bool
	correction *graph.Node
	outputs    []*graph.Node
	block      int // first column of the row that the graph reads
	view       int // of the row, from 0
	// training means that layers such as dropout draw noise; noisy numbers their calls.
	training   bool
	noisy      map[noisyCall]int
	operations []net.Operation // of the calls of networks
	// derivations are the derived columns with a value in the row that the graph reads.
	derivations map[*data.Column]expr.Value
}

// environment has the dims and the names of the columns, but no values.
func (c *compiler) environment() *expr.Env {
	return &expr.Env{
		Values:       make(map[string]expr.Value),
		Dims:         c.dims,
		Unscalings:   make(map[string]*graph.Combination),
		Design:       make(map[string]*graph.Node),
		Coefficients: make(map[string]*graph.Node),
		Columns:      c.columns,
		Ranges:       c.ranges(),
	}
}

// ranges are the ranges of the declared numbers.
func (c *compiler) ranges() map[string]expr.Range {
	ranges := make(map[string]expr.Range)
	for _, column := range c.spec.Data.Columns {
		if column.Numeric() && column.Lower.IsSet() && column.Upper.IsSet() {
			center, by := column.Scale()
			ranges[column.Name.V] = expr.Range{Lower: column.Lower.V, Upper: column.Upper.V, Center: center, By: by,
				Whole: column.Type.V == data.Integer, Transformed: column.Transform.IsSet()}
		}
	}
	return ranges
}

// build starts a graph with all parameters as leaves of θ, and the quantities under `let:`.
func (c *compiler) build() *build {
	g := &build{c: c, b: graph.NewBuilder(), env: c.environment(), noisy: make(map[noisyCall]int)}
	g.declare(func(p *Param, free graph.Shape) *graph.Node { return g.b.Param(p.Name, free) })
	return g
}

// declare gives every parameter its unconstrained leaf, and its value.
func (g *build) declare(leaf func(p *Param, free graph.Shape) *graph.Node) {
	g.scales()
	g.tables()
	g.callable()
	g.logDet = make(map[string]*graph.Node)
	free := make(map[string]*graph.Node)
	for i := range g.c.params {
		p := &g.c.params[i]
		free[p.Name] = g.work(p, leaf(p, g.c.priors[i].free))
	}
	g.rotation(free)
	for i := range g.c.params {
		p, prior := &g.c.params[i], &g.c.priors[i]
		value, logDet := p.Transform.Apply(g.b, free[p.Name], prior.shape)
		g.env.Values[p.Name] = prior.value(value)
		g.logDet[p.Name] = logDet
	}
	for _, d := range g.c.ordered(g.c.core.Let) {
		g.define(d)
	}
}

// define gives a name the value of its expression.
func (g *build) define(d *core.Definition) {
	n, errs := expr.Lower(d.Expr, g.env, g.b)
	g.c.errs = append(g.c.errs, errs...)
	if n == nil {
		n = g.b.Const(0) // reported already; expressions that use it are not to blame
	}
	g.env.Values[d.Name.V] = expr.Value{Node: n}
}

// rows adds the columns that the rows block reads, and its quantities.
func (g *build) rows() {
	g.env.Values = maps.Clone(g.env.Values)
	g.columns()
	g.rotateRows()
	g.correction = g.latents()
	for _, d := range g.c.ordered(g.c.core.RowsLet) {
		g.define(d)
	}
}

// logPrior is log p(θ): the priors of all values plus log |det dx/dθ|.
func (g *build) logPrior() *graph.Node {
	terms := []*graph.Node{g.b.Const(0)}
	for i := range g.c.params {
		p := &g.c.priors[i]
		terms = append(terms, sumAll(g.b, g.logDet[g.c.params[i].Name]), g.priorOf(p))
	}
	return g.b.AddAll(terms...)
}

// priorOf is the log density of one parameter's values.
func (g *build) priorOf(p *prior) *graph.Node {
	if p.distribution == nil {
		return g.b.Const(0) // flat
	}
	value := g.env.Values[p.definition.Name.V].Node
	density, errs := expr.LowerDensity(p.distribution, g.env, g.b)
	if len(errs) > 0 {
		g.c.errs = append(g.c.errs, errs...)
		return g.b.Const(0)
	}
	each := density.LogDensity(g.b, dist.Observed{X: value})
	if len(p.elements) == 0 {
		return sumAll(g.b, each)
	}
	return g.withElements(p, value, each)
}

// withElements replaces the log density of single values by their own priors'.
func (g *build) withElements(p *prior, value, each *graph.Node) *graph.Node {
	own := make(map[int]bool)
	terms := []*graph.Node{}
	for _, e := range p.elements {
		own[e.at] = true
		density, errs := expr.LowerDensity(e.definition.Expr, g.env, g.b)
		g.c.errs = append(g.c.errs, errs...)
		if len(errs) == 0 {
			x := g.b.Take(value, nil, []int32{int32(e.at)})
			terms = append(terms, density.LogDensity(g.b, dist.Observed{X: x}))
		}
	}
	var rest []int32
	for i := range p.shape.Size() {
		if !own[i] {
			rest = append(rest, int32(i))
		}
	}
	if len(rest) > 0 {
		each = g.b.Expand(each, p.shape)
		kept := g.b.Take(each, graph.Shape{{Name: "values", Size: len(rest)}}, rest)
		terms = append(terms, sumAll(g.b, kept))
	}
	return g.b.AddAll(terms...)
}

// priorGraph is the graph whose loss is log p(θ).
func (c *compiler) priorGraph() *build {
	g := c.build()
	g.loss = g.logPrior()
	return g
}

// sumAll sums over all dims.
func sumAll(b *graph.Builder, x *graph.Node) *graph.Node {
	if len(x.Shape()) == 0 {
		return x
	}
	return b.Sum(x)
}
