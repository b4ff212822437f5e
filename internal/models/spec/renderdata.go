package spec

import (
	"slices"
	"strconv"
	"strings"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
)

// renderData prints the data declaration.
func renderData(p *printer, d *data.Data, inCore bool) {
	unit := []string{"entity: " + flowText(d.Unit.Entity.V)}
	if d.Unit.ID.IsSet() {
		unit = append(unit, "id: "+flowText(d.Unit.ID.V))
	}
	unit = append(unit, "rows_per_unit: "+strconv.Itoa(d.Unit.RowsPerUnit.V))
	if d.Unit.ID.IsSet() {
		unit = append(unit, "keep: "+d.Unit.Keep.Or("random"))
	}
	p.line("unit", flowMap(unit))
	switch {
	case d.Rows.Public.IsSet():
		p.line("rows", flowMap([]string{"public: " + strconv.Itoa(d.Rows.Public.V)}))
	case d.Rows.UpperBound.IsSet():
		p.line("rows", flowMap([]string{"upper_bound: " + strconv.Itoa(d.Rows.UpperBound.V)}))
	}
	p.line("out_of_range", d.OutOfRange.Or("clamp"))
	if len(d.MissingTokens) > 0 {
		p.line("missing_tokens", flowList(d.MissingTokens, func(v source.Value[string]) string { return v.V }))
	}
	if d.Decimal.IsSet() {
		p.line("decimal", strconv.Quote(d.Decimal.V))
	}
	if d.Dates.IsSet() {
		p.text("dates", d.Dates.V)
	}
	if d.Encoding.IsSet() {
		p.text("encoding", d.Encoding.V)
	}
	if d.Format.IsSet() {
		p.text("format", d.Format.V)
	}
	if d.Separator.IsSet() {
		p.line("separator", strconv.Quote(d.Separator.V))
	}
	if d.Quotes.IsSet() {
		p.text("quotes", d.Quotes.V)
	}
	if len(d.Header) > 0 {
		p.line("header", flowList(d.Header, func(v source.Value[string]) string { return v.V }))
	}
	if len(d.Columns) > 0 {
		p.block("columns", func() {
			for _, c := range d.Columns {
				p.line(c.Name.V, renderColumn(d, c))
			}
		})
	}
	if declared := slices.DeleteFunc(slices.Clone(d.Derived), func(c *data.Column) bool { return c.Derive.InFormula && !inCore }); len(declared) > 0 {
		p.block("derive", func() {
			for _, c := range declared {
				p.line(c.Name.V, renderDerived(c))
			}
		})
	}
	renderTensors(p, d)
	if len(d.Tables) > 0 {
		p.block("tables", func() {
			for _, t := range d.Tables {
				renderTable(p, t)
			}
		})
	}
	if d.Weights.IsSet() {
		p.text("weights", d.Weights.V)
	}
	if len(d.Drop) > 0 {
		p.line("drop", flowList(d.Drop, func(v source.Value[string]) string { return v.V }))
	}
}

// renderTable prints the declaration of a public table; its rows stay in their
// file.
func renderTable(p *printer, t *data.Table) {
	p.block(t.Name.V, func() {
		p.text("file", t.File.V)
		p.line("public", "true")
		p.text("key", t.Key.V)
		p.block("columns", func() {
			for _, c := range t.Columns {
				parts := []string{"type: " + c.Type.V}
				if c.Header.IsSet() {
					parts = append(parts, "header: "+flowText(c.Header.V))
				}
				if c.Type.V == data.Date {
					parts = append(parts, "origin: "+c.Cell(0))
				}
				if c.Numeric() {
					parts = append(parts, "scale: {center: "+source.FormatNumber(c.Center.V)+", by: "+source.FormatNumber(c.By.Or(1))+"}")
				} else {
					parts = append(parts, "levels: "+flowList(c.Levels, func(v source.Value[string]) string { return v.V }))
				}
				if c.Transform.IsSet() {
					parts = append(parts, "transform: "+c.Transform.V)
				}
				p.line(c.Name.V, flowMap(parts))
			}
		})
	})
}

// renderDerived prints a derived column as a flow map.
func renderDerived(c *data.Column) string {
	parts := []string{"is: " + flowText(c.Derive.Text.V)}
	if c.Numeric() {
		parts = append(parts, "lower: "+source.FormatNumber(c.Lower.V), "upper: "+source.FormatNumber(c.Upper.V))
		if c.Transform.IsSet() {
			parts = append(parts, "transform: "+c.Transform.V)
		}
		center, by := c.Scale()
		parts = append(parts, "scale: {center: "+source.FormatNumber(center)+", by: "+source.FormatNumber(by)+"}")
	}
	if len(c.Derive.Merged) > 0 {
		var levels []string
		for _, m := range c.Derive.Merged {
			levels = append(levels, flowText(m.Level.V)+": "+flowList(m.From, func(v source.Value[string]) string { return v.V }))
		}
		parts = append(parts, "levels: "+flowMap(levels))
	}
	if c.Reference.IsSet() {
		parts = append(parts, "reference: "+flowText(c.Reference.V))
	}
	if c.Source.IsSet() {
		parts = append(parts, "source: "+flowText(c.Source.V))
	}
	return flowMap(parts)
}

// renderColumn prints the declaration of a column as a flow map.
func renderColumn(d *data.Data, c *data.Column) string {
	parts := []string{"type: " + c.Type.V}
	add := func(key, value string) { parts = append(parts, key+": "+value) }
	if c.Header.IsSet() {
		add("header", flowText(c.Header.V))
	}
	if c.Numeric() {
		if c.Type.V == data.Date {
			add("origin", c.Cell(0))
		}
		add("lower", c.Cell(c.Lower.V))
		add("upper", c.Cell(c.Upper.V))
		if c.Transform.IsSet() {
			add("transform", c.Transform.V)
		}
		center, by := c.Scale()
		add("scale", "{center: "+source.FormatNumber(center)+", by: "+source.FormatNumber(by)+"}")
	} else {
		add("levels", flowList(c.Levels, func(v source.Value[string]) string { return v.V }))
		if c.Type.V != data.Binary {
			add("reference", flowText(c.Levels[c.ReferenceLevel()].V))
		}
		add("unknown", flowText(c.Unknown.Or(data.RejectRow)))
	}
	if c.Source.IsSet() {
		add("source", flowText(c.Source.V))
	}
	if c.ConstantWithin.IsSet() {
		add("constant_within", flowText(c.ConstantWithin.V))
	}
	add("missing", renderMissing(d.MissingOf(c)))
	return flowMap(parts)
}

// renderMissing prints the rule for missing values.
func renderMissing(m data.Missing) string {
	if m.Rule != data.MissingImpute {
		return m.Rule
	}
	return flowMap([]string{"impute: " + flowText(m.Impute.V), "indicator: " + strconv.FormatBool(m.Indicator.V)})
}

// flowMap prints {a: 1, b: 2}.
func flowMap(parts []string) string { return "{" + strings.Join(parts, ", ") + "}" }
