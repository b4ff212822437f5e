package models

import (
	"errors"
	"fmt"

	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/dist"
	"d3p/internal/models/encoding"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
	"d3p/internal/spell"
)

// Observation is one line of `observe:`: columns of a record, and how they are
// distributed given the parameters and the record's other columns.
type Observation struct {
	Name    string // a column, or a dim of columns
	Columns []*data.Column
	Support support.Support // of one value
	// Raw marks the columns that are observed in the unit of the file, not on their
	// declared scale.
	Raw []bool
	// Mean, Levels and Inputs are outputs of the tapes Predict and Reconstruct: the mean of
	// the response, the probabilities of a category's levels, and the inputs of draws; -1
	// or nil if they do not apply. A response on a scale has its mean on that scale.
	Mean, Levels int
	Inputs       []int
	// Parents are the observations whose columns the distribution reads, as
	// indices of Observed.
	Parents []int

	Density dist.Density // of the tape Predict
	Shape   graph.Shape  // of one value
}

// likelihood is the graph whose loss is log p(record | θ), summed over the observations.
func (c *compiler) likelihood(m *Model) *build {
	g := c.build()
	g.guided, g.training = true, true
	g.rows()
	g.loss = g.logLikelihood(func(o Observation) { m.Observed = append(m.Observed, o) })
	c.findParents(m.Observed)
	return g
}

// logLikelihood is log p(record | θ). It calls found with every observation.
func (g *build) logLikelihood(found func(Observation)) *graph.Node {
	terms := []*graph.Node{g.correction}
	for _, d := range g.c.core.Observe {
		density := g.density(d)
		if density == nil {
			continue
		}
		o, x := g.observed(d, density)
		if x.X == nil {
			continue
		}
		if err := density.Fits(x.X.Shape()); err != nil {
			g.c.errs.Add(d.Text.At, "", "%v", err)
			continue
		}
		terms = append(terms, sumAll(g.b, g.score(d, density, o, x)))
		if found != nil {
			found(o)
		}
	}
	return g.weighted(g.b.AddAll(terms...))
}

// score is log p(x | θ), or its replacement under `likelihood:`.
func (g *build) score(d *core.Definition, density dist.Density, o Observation, x dist.Observed) *graph.Node {
	l := &g.c.spec.Likelihood
	score := density.LogDensity(g.b, x)
	if l.IsBeta() {
		robust, err := g.betaScore(density, o, x)
		if err != nil {
			g.c.errs.Add(l.Divergence.At, "", "%s: %v", d.Name.V, err)
			return score
		}
		score = robust
	}
	if l.Weight.IsSet() {
		score = g.b.Mul(g.b.Const(l.Weight.V), score)
	}
	return score
}

// betaScore is the score of a beta divergence. The error states why the model has no score.
func (g *build) betaScore(density dist.Density, o Observation, x dist.Observed) (*graph.Node, error) {
	if len(g.c.core.Observe) > 1 || len(o.Columns) != 1 || len(g.c.core.Latent) > 0 {
		return nil, errors.New("a beta divergence is of one observed column, without local latents")
	}
	return dist.BetaScore(g.b, density, x, g.c.spec.Likelihood.Beta.Or(core.DefaultBeta), g.c.levelsOf(o))
}

// levelsOf is the number of levels of one observed column, 0 of a number.
func (c *compiler) levelsOf(o Observation) int {
	if o.Support.Kind == support.Binary {
		return 2
	}
	return len(o.Columns[0].LevelNames())
}

// weighted multiplies the log density of a row by its weight, if it has one: a
// row of weight 2 counts as two equal rows, before it is clipped.
func (g *build) weighted(log *graph.Node) *graph.Node {
	data := &g.c.spec.Data
	w := data.Column(data.Weights.V)
	if w == nil || w.Derive != nil || !w.Numeric() { // without weights, or a mistake that is reported
		return log
	}
	return g.b.Mul(g.read(g.c.encoder.Raw(w, encoding.Response)), log)
}

// density lowers the right side of an observation, nil after a mistake.
func (g *build) density(d *core.Definition) dist.Density {
	if d.Expr == nil {
		return nil
	}
	density, errs := expr.LowerDensity(d.Expr, g.env, g.b)
	g.c.errs = append(g.c.errs, errs...)
	return density
}

// observed finds the meaning of an observation's name: a column, or the vector of columns
// that label a dim. The value's X is nil after a mistake.
func (g *build) observed(d *core.Definition, density dist.Density) (Observation, dist.Observed) {
	o := Observation{Name: d.Name.V, Support: density.Support(), Mean: -1, Levels: -1}
	if t := g.c.spec.Data.Tensor(o.Name); t != nil {
		x := g.observedTensor(d, t, &o)
		return o, dist.Observed{X: x}
	}
	single := g.c.spec.Data.Column(o.Name)
	if single != nil {
		o.Columns = []*data.Column{single}
	} else {
		o.Columns = g.c.labelsOf(o.Name)
	}
	if o.Columns == nil {
		g.c.errs.Add(d.Name.At, spell.Question(o.Name, g.c.columns, ""), "%s is neither a column nor a dim of columns", o.Name)
		return o, dist.Observed{}
	}
	supports := dist.ElementSupports(density, len(o.Columns))
	if supports == nil {
		g.c.errs.Add(d.Text.At, "", "the distribution of %s does not have its %d elements", o.Name, len(o.Columns))
		return o, dist.Observed{}
	}
	parts := make([]*graph.Node, len(o.Columns))
	for i, column := range o.Columns {
		if column.Derive != nil {
			parts[i] = g.condition(d, column, supports[i])
			if o.Raw = append(o.Raw, true); parts[i] == nil {
				return o, dist.Observed{}
			}
			continue
		}
		at, raw, ok := g.response(d, column, supports[i])
		if !ok {
			return o, dist.Observed{}
		}
		parts[i] = g.read(at)
		o.Raw = append(o.Raw, raw)
	}
	indicators, ok := g.indicators(d, o.Columns, density)
	if !ok {
		return o, dist.Observed{}
	}
	if single != nil {
		x := dist.Observed{X: parts[0]}
		if indicators != nil {
			x.Missing = indicators[0]
		}
		return o, x
	}
	dim := graph.Dim{Name: o.Name, Size: len(parts)}
	o.Shape = graph.Shape{dim}
	x := dist.Observed{X: g.b.Stack(dim, parts...)}
	if indicators != nil {
		x.Missing = g.b.Stack(dim, indicators...)
	}
	return o, x
}

// condition is the 0 or 1 of a derived column that is observed; nil after a mistake.
func (g *build) condition(d *core.Definition, c *data.Column, s support.Support) *graph.Node {
	of, err := g.c.spec.Data.ConditionOf(c)
	switch {
	case err != nil:
		g.c.errs.Add(d.Name.At, "observe a column of the file", "derived column %s cannot be observed: %v", c.Name.V, err)
		return nil
	case s.Kind != support.Binary:
		g.c.errs.Add(d.Text.At, "use bernoulli", "%s is 0 or 1, which the distribution does not observe", c.Name.V)
		return nil
	case g.c.spec.Data.MissingOf(of.Column).Rule == data.MissingImpute:
		g.c.errs.Add(of.Column.Missing.At, "use `reject`", "column %s is observed and must not be imputed", of.Column.Name.V)
		return nil
	}
	env := g.c.environment()
	if of.Column.Numeric() {
		raw := g.read(g.c.encoder.Raw(of.Column, encoding.Response))
		env.Values[of.Column.Name.V] = expr.Value{Node: raw, Raw: raw}
	} else {
		env.Values[of.Column.Name.V] = expr.Value{Node: g.read(g.c.encoder.Code(of.Column, encoding.Response)), Labels: of.Column.LevelNames()}
	}
	x, errs := expr.Lower(c.Derive.Expr, env, g.b)
	g.c.errs = append(g.c.errs, errs...)
	return x
}

// response is the encoded column in which a distribution observes a column. A density on
// the whole line reads numbers on their declared scale; one on part of it, and counts, read
// them in the unit of the file. It reports a column that does not suit the distribution.
func (g *build) response(d *core.Definition, c *data.Column, s support.Support) (at int, raw, ok bool) {
	if c.Missing.Rule == data.MissingImpute {
		g.c.errs.Add(c.Missing.At, "use `reject`", "column %s is observed and must not be imputed", c.Name.V)
		return 0, false, false
	}
	want := ""
	switch s.Kind {
	case support.Real:
		if c.Numeric() {
			return g.c.encoder.Scaled(c, encoding.Response), false, true
		}
		want = "a number"
	case support.Binary:
		if c.Type.V == data.Binary {
			return g.c.encoder.Code(c, encoding.Response), true, true
		}
		want = "a binary column"
	case support.Category:
		if !c.Numeric() {
			return g.c.encoder.Code(c, encoding.Response), true, true
		}
		want = "a category"
	case support.Count, support.Counts:
		if c.Type.V == data.Integer && c.Lower.V >= s.Lower && (s.Upper == 0 || c.Upper.V <= s.Upper) {
			return g.c.encoder.Raw(c, encoding.Response), true, true
		}
		want = fmt.Sprintf("an integer with a lower bound of at least %g", s.Lower)
		if s.Upper > 0 {
			want += fmt.Sprintf(" and an upper bound of at most %g", s.Upper)
		}
	default:
		if within(c, s) {
			return g.c.encoder.Raw(c, encoding.Response), true, true
		}
		want = "a number with bounds that keep it " + s.String()
	}
	name := d.Text.V
	if call, ok := d.Expr.(*expr.Call); ok {
		name = call.Func
	}
	is := c.Type.V
	if c.Numeric() {
		is = fmt.Sprintf("%s in [%g, %g]", is, c.Lower.V, c.Upper.V)
	}
	hint := ""
	if c.Numeric() && c.Lower.V == 0 && s.Kind == support.Positive {
		hint = "declare a small lower bound above 0, to which smaller values are moved"
	}
	if c.Numeric() && s.Contains([]float64{c.Lower.V}) && s.Contains([]float64{c.Upper.V}) {
		hint = "move the bounds: in float32, as the table is kept, they lie on the edge"
	}
	g.c.errs.Add(d.Text.At, hint, "%s observes %s, but column %s is %s", name, want, c.Name.V, is)
	return 0, false, false
}

// within reports whether the declared bounds of a number lie in a support that
// is part of the line, also when they are rounded to float32 as the table is.
func within(c *data.Column, s support.Support) bool {
	lower, upper := float64(float32(c.Lower.V)), float64(float32(c.Upper.V))
	switch {
	case !c.Numeric():
		return false
	case s.Kind == support.Positive:
		return lower > 0
	case s.Kind == support.UnitInterval:
		return lower > 0 && upper < 1
	case s.Kind == support.ClosedUnit:
		return lower >= 0 && upper <= 1
	case s.Kind == support.Interval:
		return lower > s.Lower && upper < s.Upper
	}
	return false
}
