package spec

import (
	"math"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
	"d3p/internal/spell"
)

// tokensHint is for a user who names the texts of missing values where their rule belongs.
const tokensHint = "one of: reject, model, {impute: 75}; texts that mean a missing value: `missing_tokens: [NA, \"-9\"]`, in the column or under data"

// missingRule reads `reject`, `model` or `{impute: value, indicator: true}`.
func (r *reader) missingRule(e entry) data.Missing {
	m := data.Missing{At: e.at}
	e.key = "missing" // also where the key is a column's name
	if _, list := e.node.(*ast.SequenceNode); list {
		r.Add(r.at(e.node), tokensHint, "missing must be a rule, not a list")
		return m
	}
	if !e.isMapping() {
		m.Rule = r.choice(e, data.MissingReject, data.MissingModel).V
		return m
	}
	m.Rule = data.MissingImpute
	r.object(e, "missing", missingFields(&m))
	return m
}

// missingFields are the keys of an imputed value.
func missingFields(m *data.Missing) []field {
	return []field{
		text("impute", &m.Impute).needed("add `impute:` with a constant", "no value to impute").means("the constant that replaces a missing value"),
		boolean("indicator", &m.Indicator).or("false").means("true: adds the 0/1 column NAME_missing"),
	}
}

// missingText prints the rule for missing values.
func missingText(m data.Missing) string {
	if m.Rule != data.MissingImpute {
		return m.Rule
	}
	return flow(missingFields(&m))
}

// namedRule is one line of `data: missing:`.
type namedRule struct {
	column source.Value[string]
	rule   data.Missing
}

// readRule reads one line of `data: missing:`, a rule per column and `default:`.
func readRule(r *reader, e entry) (namedRule, bool) {
	return namedRule{e.name(), r.missingRule(e)}, true
}

// applyMissing gives every column its rule.
func (r *reader) applyMissing(rules []namedRule, d *data.Data) {
	for _, n := range rules {
		if n.column.V == "default" {
			d.Missing = n.rule
			if d.Missing.Impute.IsSet() {
				r.Add(d.Missing.Impute.At, "declare it per column", "one constant cannot serve every column")
			}
			continue
		}
		c := d.Column(n.column.V)
		switch {
		case c != nil && c.Derive != nil:
			r.Add(n.column.At, "give the rule to its columns", "derived column %s is not read from the file", n.column.V)
		case c == nil:
			r.Add(n.column.At, spell.Suggest(n.column.V, "one of", append(d.ColumnNames(), "default")), "undeclared column %s in missing", n.column.V)
		case c.Missing.At.Line > 0:
			r.Add(n.column.At, "", "column %s has two rules for missing values; the other is on line %d", n.column.V, c.Missing.At.Line)
		default:
			c.Missing = n.rule
		}
	}
}

// checkMissing reports an imputed constant that the column cannot hold.
func (r *reader) checkMissing(d *data.Data, c *data.Column) {
	v := c.Missing.Impute
	if !v.IsSet() || c.Type.V == "" {
		return
	}
	if c.BuysLevels() {
		if v.V != c.Unknown.V {
			r.Add(v.At, "impute the level that `unknown:` names", "which levels %s has is bought, so %s may be none", c.Name.V, v.V)
		}
		return
	}
	if !c.Numeric() {
		if c.Level(v.V) < 0 {
			r.Add(v.At, spell.Suggest(v.V, "levels", c.LevelNames()), "%s is no level of %s", v.V, c.Name.V)
		}
		return
	}
	x := c.ImputeNumber()
	switch {
	case math.IsNaN(x):
		what := "number"
		if c.Type.V == data.Date {
			what = "date"
		}
		r.Add(v.At, "", "column %s needs a %s to impute, not %s", c.Name.V, what, v.V)
	case c.Lower.IsSet() && x < c.Lower.V || c.Upper.IsSet() && x > c.Upper.V:
		r.Add(v.At, "", "%s lies outside the bounds of %s", v.V, c.Name.V)
	}
	if c.Missing.Indicator.V && d.Column(c.Name.V+data.IndicatorSuffix) != nil {
		r.Add(c.Missing.Indicator.At, "", "the indicator %s%s is also a column", c.Name.V, data.IndicatorSuffix)
	}
}
