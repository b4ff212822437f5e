package spec

import (
	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
	"d3p/internal/spell"
)

// derived reads `derive:`, an expression per column, or a mapping with its bounds and
// scale.
func (r *reader) derived(e entry) []*data.Column {
	list, ok := r.entries(e.node, "derive")
	if !ok {
		return nil
	}
	var columns []*data.Column
	for _, e := range list {
		if e.node == nil {
			continue
		}
		c := &data.Column{Name: source.Value[string]{V: e.key, At: e.at}, Derive: &data.Derivation{}}
		if _, mapping := e.node.(*ast.MappingNode); r.shape != nil || mapping {
			r.describes("string")
			keys := r.object(e.node, "column "+e.key, fields{
				"is":        func(e entry) { c.Derive.Text = r.text(e) },
				"levels":    func(e entry) { c.Derive.Merged = r.merged(e) },
				"reference": func(e entry) { c.Reference = r.text(e) },
				"lower":     func(e entry) { c.Lower = r.number(e) },
				"upper":     func(e entry) { c.Upper = r.number(e) },
				"transform": func(e entry) { c.Transform = r.choice(e, data.TransformNames()...) },
				"scale":     func(e entry) { r.scale(e, c) },
				"source":    func(e entry) { c.Source = r.text(e) },
			})
			if keys != nil && !keys["is"] {
				r.Add(e.at, "add `is:` with an expression of columns, such as weight / (height / 100)^2", "derived column %s has no expression", e.key)
			}
		} else {
			c.Derive.Text = r.text(e)
		}
		columns = append(columns, c)
	}
	return columns
}

// merged reads the levels of a category that joins levels of another:
// {north: [leeds, york], south: [dover]}.
func (r *reader) merged(e entry) []data.Merge {
	list, ok := r.entries(e.node, "levels")
	if !ok {
		return nil
	}
	var merged []data.Merge
	for _, e := range list {
		merged = append(merged, data.Merge{Level: source.Value[string]{V: e.key, At: e.at}, From: r.texts(e)})
	}
	return merged
}

// checkDerived parses the expressions of derived columns and completes their
// declarations; it leaves out columns with mistakes.
func (r *reader) checkDerived(d *data.Data) {
	declared := d.Derived
	d.Derived = nil
	for _, c := range declared {
		if other := d.Column(c.Name.V); other != nil {
			r.Add(c.Name.At, "", "column %s is declared on line %d, too", c.Name.V, other.Name.At.Line)
			continue
		}
		if !c.Derive.Text.IsSet() {
			continue
		}
		e, errs := expr.Parse(c.Derive.Text.V, c.Derive.Text.At)
		r.List = append(r.List, errs...)
		if len(errs) > 0 {
			continue
		}
		c.Derive.Expr = e
		if err := d.Complete(c); err != nil {
			hint := ""
			if c.Numeric() {
				hint = "declare {is: ..., lower: ..., upper: ...}, of columns in the unit of the file"
			}
			r.Add(c.Derive.Text.At, hint, "derived column %s: %v", c.Name.V, err)
			continue
		}
		if c.Numeric() {
			r.checkBounds(c, present{"lower": true, "upper": true})
		} else {
			r.refuse(c, "bounds, scale or transform", c.Lower.At, c.Upper.At, c.Transform.At, c.Center.At, c.By.At)
			if c.Reference.IsSet() && c.Level(c.Reference.V) < 0 {
				r.Add(c.Reference.At, spell.Suggest(c.Reference.V, "levels", c.LevelNames()), "column %s has no level %s", c.Name.V, c.Reference.V)
			}
		}
		d.Derived = append(d.Derived, c)
	}
}
