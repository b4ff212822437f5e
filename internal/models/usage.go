package models

import (
	"math"

	"d3p/internal/models/core"
	"d3p/internal/models/dist"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
)

// usage records how the expressions of a row read the columns, so that only these are
// encoded.
type usage struct {
	named  map[string]bool // by its name: a number on its scale, a category's code
	raw    map[string]bool // raw(name)
	dims   map[string]bool // columns(dim)
	labels map[string]bool // column('label')
}

func newUsage() usage {
	return usage{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

// usageOf reads the rows block.
func usageOf(c *core.Core) usage {
	u := newUsage()
	for _, list := range [][]*core.Definition{c.Latent, c.RowsLet, c.Observe} {
		for _, d := range list {
			if d.Expr != nil {
				expr.Walk(d.Expr, u.visit)
			}
		}
	}
	return u
}

// visit notes one node of an expression and reports whether to look below it.
func (u usage) visit(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Name:
		u.named[e.ID] = true
	case *expr.Call:
		if column, ok := e.LengthColumn(); ok {
			u.raw[column.ID] = true
			expr.Walk(e.Args[0].Value, u.visit)
			return false
		}
		if len(e.Args) != 1 {
			return true
		}
		switch arg := e.Args[0].Value.(type) {
		case *expr.Name:
			switch e.Func {
			case "raw":
				u.raw[arg.ID] = true
				return false
			case "columns":
				u.dims[arg.ID] = true
				return false
			}
		case *expr.Text:
			if e.Func == "column" {
				u.labels[arg.Value] = true
			}
		}
	}
	return true
}

// checkUse reports an empty observe block, parameters and quantities that no observation
// depends on, and observations that depend on themselves.
func (c *compiler) checkUse() {
	if len(c.core.Observe) == 0 {
		c.errs.Add(c.core.At, "add `rows: observe:` with a line `column: distribution`", "the model observes nothing")
		return
	}
	definitions := c.byName()
	used := make(map[string]bool)
	observed := make(map[string]bool)
	for _, d := range c.core.Observe {
		needs := make(map[string]bool)
		c.follow(d.Expr, definitions, needs)
		c.followFree(d, definitions, needs)
		for _, column := range c.columnsOf(d.Name.V) {
			if needs[column] {
				c.errs.Add(d.Text.At, "an observed column cannot be its own predictor", "the distribution of %s depends on %s itself", d.Name.V, column)
			}
			if observed[column] {
				c.errs.Add(d.Name.At, "", "column %s is observed twice", column)
			}
			observed[column] = true
		}
		for name := range needs {
			used[name] = true
		}
	}
	for i, p := range c.priors {
		if !c.params[i].Weight && !used[p.definition.Name.V] {
			c.errs.Add(p.definition.Name.At, "use it in an observed distribution, or remove it", "nothing uses parameter %s", p.definition.Name.V)
		}
	}
	for _, d := range append(c.core.Latent[:len(c.core.Latent):len(c.core.Latent)], c.core.RowsLet...) {
		if !used[d.Name.V] {
			c.errs.Add(d.Name.At, "remove it", "nothing uses %s", d.Name.V)
		}
	}
}

// byName lists the definitions of every name. A parameter and the priors of its single
// values have separate names.
func (c *compiler) byName() map[string]*core.Definition {
	definitions := make(map[string]*core.Definition)
	for _, list := range [][]*core.Definition{c.core.Params, c.core.Let, c.core.Latent, c.core.RowsLet} {
		for _, d := range list {
			definitions[d.Name.V] = d
		}
	}
	for _, column := range c.spec.Data.Derived {
		definitions[column.Name.V] = &core.Definition{Name: column.Name, Text: column.Derive.Text, Expr: column.Derive.Expr}
	}
	for _, p := range c.priors { // a dim may have a column's name
		bare := *p.definition
		bare.Expr = p.distribution
		definitions[bare.Name.V] = &bare
	}
	return definitions
}

// followFree removes the observed column from the needs of a free density, unless another
// part of the density needs it.
func (c *compiler) followFree(d *core.Definition, definitions map[string]*core.Definition, needs map[string]bool) {
	column, log := expr.FreeOf(d.Expr)
	if column == nil {
		return
	}
	if column.ID != d.Name.V {
		c.errs.Add(column.At, "write log_density("+d.Name.V+", ...)", "what is observed is %s, not %s", d.Name.V, column.ID)
		return
	}
	others := make(map[string]bool)
	c.followBut(column.ID, log, definitions, others)
	needs[column.ID] = others[column.ID]
}

// follow adds to needs every name that an expression depends on, through the definitions of
// others, and the columns that columns(dim) reads.
func (c *compiler) follow(e expr.Expr, definitions map[string]*core.Definition, needs map[string]bool) {
	c.followBut("", e, definitions, needs)
}

// followBut is follow without a given name of the expression.
func (c *compiler) followBut(without string, e expr.Expr, definitions map[string]*core.Definition, needs map[string]bool) {
	if e == nil {
		return
	}
	for _, name := range expr.Names(e) {
		if needs[name] || name == without {
			continue
		}
		needs[name] = true
		if d := definitions[name]; d != nil {
			c.follow(d.Expr, definitions, needs)
		}
	}
	c.followNets(e, definitions, needs)
	reads := newUsage()
	expr.Walk(e, reads.visit)
	for dim := range reads.dims {
		for _, label := range c.dims[dim].Labels {
			reads.labels[label] = true
		}
	}
	for label := range reads.labels {
		factors, _ := c.spec.Data.Factors(label)
		for _, f := range factors {
			needs[f.Column.Name.V] = true
			if f.Column.Derive != nil {
				c.follow(f.Column.Derive.Expr, definitions, needs)
			}
		}
	}
}

// columnsOf lists the columns that an observation's name refers to.
func (c *compiler) columnsOf(name string) []string {
	if column := c.spec.Data.Column(name); column != nil && column.Derive != nil {
		return append(expr.Names(column.Derive.Expr), name)
	} else if column != nil {
		return []string{name}
	}
	if t := c.spec.Data.Tensor(name); t != nil {
		return []string{name}
	}
	var columns []string
	for _, column := range c.labelsOf(name) {
		columns = append(columns, column.Name.V)
	}
	return columns
}

// mostIntegralRatio is the ratio of the integrals of a free density, over the bounds of its
// column, between parameters from which a warning follows. Tails beyond the bounds change
// the integral, too.
const mostIntegralRatio = 2

// warnFree warns of free densities whose integral depends on the parameters, for a record
// with predictors 0: their posterior belongs to another model.
func (c *compiler) warnFree(m *Model) {
	for i := range m.Observed {
		o := &m.Observed[i]
		if _, ok := o.Density.(dist.Free); !ok {
			continue
		}
		machine := graph.NewMachine(m.Predict, 1)
		least, most := math.Inf(1), 0.0
		for k := range 16 {
			theta := make([]float64, m.P)
			for j := range theta {
				theta[j] = math.Sin(float64(3*k*(j+1) + j))
			}
			machine.Globals(theta, nil)
			machine.Records(make([]float64, m.Encoding.K), m.Encoding.K, 1, make([]float64, m.Predict.AuxRecord))
			points, log := machine.Output(o.Inputs[0]), machine.Output(o.Inputs[1])
			total := 0.0
			for _, l := range log {
				total += math.Exp(l) * (points[1] - points[0])
			}
			if total-total == 0 {
				least, most = min(least, total), max(most, total)
			}
		}
		if most <= mostIntegralRatio*least {
			continue
		}
		var of *core.Definition
		for _, d := range c.core.Observe {
			if d.Name.V == o.Name {
				of = d
			}
		}
		c.warn(of.Text.At, "subtract the log of its integral, unless that does not depend on the parameters",
			"over the bounds of %s the density integrates to %.2g or %.2g, depending on the parameters: the posterior then belongs to another model", o.Name, least, most)
	}
}
