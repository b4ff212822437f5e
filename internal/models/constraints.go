package models

import (
	"math"

	"d3p/internal/models/core"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
)

// constraints are the conditions that every record of a synthetic table meets.
type constraints struct {
	tape  *graph.Tape
	reads [][]int // of each condition: the columns that it reads
}

// constraints compiles the conditions, whose record is all declared columns in
// the unit of the file, levels by index; nil when there are none.
func (c *compiler) constraints() *constraints {
	list := c.core.Constraints
	if len(list) == 0 {
		return nil
	}
	g := &build{c: c, b: graph.NewBuilder(), env: c.environment()}
	for i, column := range c.spec.Data.Columns {
		n := g.b.Column(i)
		g.env.Values[column.Name.V] = expr.Value{Node: n, Raw: n, Labels: column.LevelNames()}
		if column.Numeric() {
			g.env.Values[column.Name.V] = expr.Value{Node: n, Raw: n}
		}
	}
	all := &constraints{}
	for _, condition := range list {
		if condition.Expr == nil {
			continue
		}
		n, errs := expr.Lower(condition.Expr, g.env, g.b)
		c.errs = append(c.errs, errs...)
		reads := c.columnIndices(condition)
		switch {
		case n == nil:
		case len(n.Shape()) > 0:
			c.errs.Add(condition.Text.At, "", "a constraint is one condition per record, not one for each of %v", n.Shape())
		case len(reads) == 0:
			c.errs.Add(condition.Text.At, "write a condition such as age >= 18", "the constraint is not about any column")
		default:
			g.outputs = append(g.outputs, n)
			all.reads = append(all.reads, reads)
		}
	}
	if len(c.errs) > 0 {
		return nil
	}
	var err error
	all.tape, err = graph.Compile(g.b, nil, g.outputs, graph.Options{Columns: len(c.columns)})
	c.graphError(err)
	return all
}

// columnIndices lists the columns that a condition names.
func (c *compiler) columnIndices(condition *core.Constraint) []int {
	var at []int
	for _, name := range expr.Names(condition.Expr) {
		for i, column := range c.columns {
			if column == name {
				at = append(at, i)
			}
		}
	}
	return at
}

// constraintMachine evaluates conditions, for up to maxB records at a time.
type constraintMachine struct {
	*constraints
	machine *graph.Machine
	rows    []float64
}

func (c *constraints) machine(maxB int) *constraintMachine {
	if c == nil {
		return nil
	}
	return &constraintMachine{constraints: c, machine: graph.NewMachine(c.tape, maxB)}
}

// met sets ok[b] to whether record b of the table, by all declared columns, meets
// every condition. A condition about a missing value is met, as in SQL.
func (m *constraintMachine) met(ok []bool, values [][]float64) { m.meets(ok, values, -1) }

// meets is met for one condition, or for all when only is -1.
func (m *constraintMachine) meets(ok []bool, values [][]float64, only int) {
	for b := range ok {
		ok[b] = true
	}
	if m == nil {
		return
	}
	k := len(values)
	m.rows = m.rows[:0]
	for b := range ok {
		for _, column := range values {
			m.rows = append(m.rows, column[b])
		}
	}
	m.machine.Globals(nil, nil)
	m.machine.Records(m.rows, k, len(ok), nil)
	for i, reads := range m.reads {
		if only >= 0 && i != only {
			continue
		}
		out := m.machine.Output(i)
		for b := range ok {
			known := true
			for _, j := range reads {
				known = known && !math.IsNaN(values[j][b])
			}
			ok[b] = ok[b] && (!known || out[b] != 0)
		}
	}
}
