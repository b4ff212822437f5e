package spec

import (
	"math"

	"github.com/goccy/go-yaml/ast"
)

// The rules for missing values.
const (
	MissingReject = "reject" // the record contributes zero; q and N unchanged
	MissingImpute = "impute" // a declared constant takes its place
	MissingModel  = "model"  // the missing value is part of the model
)

// Missing is what happens when a column has no value in a record.
type Missing struct {
	At        Position
	Rule      string        // one of the above; "" when the file is silent: reject
	Impute    Value[string] // a number in the unit of the file, or a level
	Indicator Value[bool]   // add the 0/1 column NAME_missing
}

// ImputeNumber is the imputed number of a numeric column.
func (c *Column) ImputeNumber() float64 { return c.Number(c.Missing.Impute.V) }

// missingRule reads `reject`, `model` or `{impute: value, indicator: true}`.
func (r *reader) missingRule(e entry) Missing {
	m := Missing{At: e.at}
	if _, ok := e.node.(*ast.MappingNode); !ok {
		m.Rule = r.choice(e, MissingReject, MissingModel).V
		return m
	}
	m.Rule = MissingImpute
	keys := r.object(e.node, "missing", fields{
		"impute":    func(e entry) { m.Impute = r.text(e) },
		"indicator": func(e entry) { m.Indicator = r.boolean(e) },
	})
	if keys != nil && !keys["impute"] {
		r.add(e.at, "add `impute:` with a constant", "no value to impute for %s", e.key)
	}
	return m
}

// namedRule is one line of `data: missing:`.
type namedRule struct {
	column Value[string]
	rule   Missing
}

// missingRules reads `data: missing:`, a rule per column and `default:`.
func (r *reader) missingRules(e entry) []namedRule {
	list, ok := r.entries(e.node, "missing")
	if !ok {
		return nil
	}
	var rules []namedRule
	for _, e := range list {
		if e.node != nil {
			rules = append(rules, namedRule{Value[string]{e.key, e.at}, r.missingRule(e)})
		}
	}
	return rules
}

// applyMissing gives every column its rule.
func (r *reader) applyMissing(rules []namedRule, d *Data) {
	for _, n := range rules {
		if n.column.V == "default" {
			d.Missing = n.rule
			if d.Missing.Impute.IsSet() {
				r.add(d.Missing.Impute.At, "declare it per column", "one constant cannot serve every column")
			}
			continue
		}
		c := d.Column(n.column.V)
		switch {
		case c == nil:
			r.add(n.column.At, suggest(n.column.V, "columns", d.columnNames()), "undeclared column %s in missing", n.column.V)
		case c.Missing.At.Line > 0:
			r.add(n.column.At, "", "column %s has two rules for missing values; the other is on line %d", n.column.V, c.Missing.At.Line)
		default:
			c.Missing = n.rule
		}
	}
}

// checkMissing reports an imputed constant that the column cannot hold.
func (r *reader) checkMissing(d *Data, c *Column) {
	v := c.Missing.Impute
	if !v.IsSet() || c.Type.V == "" {
		return
	}
	if !c.Numeric() {
		if c.Level(v.V) < 0 {
			r.add(v.At, suggest(v.V, "levels", c.LevelNames()), "%s is no level of %s", v.V, c.Name.V)
		}
		return
	}
	x := c.ImputeNumber()
	switch {
	case math.IsNaN(x):
		what := "number"
		if c.Type.V == Date {
			what = "date"
		}
		r.add(v.At, "", "column %s needs a %s to impute, not %s", c.Name.V, what, v.V)
	case c.Lower.IsSet() && x < c.Lower.V || c.Upper.IsSet() && x > c.Upper.V:
		r.add(v.At, "", "%s lies outside the bounds of %s", v.V, c.Name.V)
	}
	if c.Missing.Indicator.V && d.Column(c.Name.V+IndicatorSuffix) != nil {
		r.add(c.Missing.Indicator.At, "", "the indicator %s%s is also a column", c.Name.V, IndicatorSuffix)
	}
}

// IndicatorSuffix makes the name of a missing-value indicator: bmi_missing.
const IndicatorSuffix = "_missing"

// MissingOf is the rule of a column: its own, else the default of the block,
// else reject.
func (d *Data) MissingOf(c *Column) Missing {
	switch {
	case c.Missing.Rule != "":
		return c.Missing
	case d.Missing.Rule != "":
		return d.Missing
	}
	return Missing{Rule: MissingReject}
}
