package models

import (
	"fmt"
	"strings"
)

// findParents fills in the Parents of all observations.
func (c *compiler) findParents(observed []Observation) {
	definitions := c.byName()
	for i := range observed {
		needs := make(map[string]bool)
		for _, d := range c.core.Observe {
			if d.Name.V == observed[i].Name {
				c.follow(d.Expr, definitions, needs)
			}
		}
		for j, other := range observed {
			for _, column := range other.Columns {
				if j != i && needs[column.Name.V] {
					observed[i].Parents = append(observed[i].Parents, j)
					break
				}
			}
		}
	}
}

// Ancestral is the order in which a record is drawn: each observation comes after the
// observations whose columns it depends on. It returns an error if observations depend on
// each other in a circle.
func (m *Model) Ancestral() ([]int, error) {
	placed := make([]bool, len(m.Observed))
	var order []int
	for len(order) < len(m.Observed) {
		before := len(order)
		for i, o := range m.Observed {
			ready := !placed[i]
			for _, parent := range o.Parents {
				ready = ready && placed[parent]
			}
			if ready {
				placed[i] = true
				order = append(order, i)
			}
		}
		if len(order) == before {
			var names []string
			for i, o := range m.Observed {
				if !placed[i] {
					names = append(names, o.Name)
				}
			}
			return nil, fmt.Errorf("the distributions of %s depend on each other, so none can be drawn first", strings.Join(names, " and "))
		}
	}
	return order, nil
}

// Given lists the predictors: columns that the model reads but does not describe.
func (m *Model) Given() []string {
	described := make(map[string]bool)
	for _, o := range m.Observed {
		for _, c := range o.Columns {
			described[c.HeaderName()] = true
		}
	}
	var names []string
	for _, c := range m.Spec.Data.Columns {
		for _, f := range m.Encoding.Fields {
			if f.Column == c.HeaderName() && !described[f.Column] {
				names = append(names, c.Name.V)
				break
			}
		}
	}
	return names
}
