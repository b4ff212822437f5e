package report

import (
	"fmt"
	"math"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/table1"
)

// preprocessing lists the transforms of each column, and of each array of columns, before
// the mechanism. fields are the columns by header. If the model reads a column in the unit
// of the file, such as a count, the list omits its transform and scale. Each constant is
// declared, which costs no privacy, or in bought.
func preprocessing(d *data.Data, fields map[string]encoding.Field, bought []table1.Bounds, levels []table1.Levels) []Preprocessing {
	list := []Preprocessing{}
	for _, c := range d.Columns {
		add := adder(&list, c.Name.V, c.Source.V)
		field, read := fields[c.HeaderName()]
		switch {
		case fields != nil && !read:
			add("not read", map[string]any{})
			continue
		case c.Numeric():
			numeric(add, d, c, read && field.Transform == "" && field.Scale == 0)
		default:
			add("encode", map[string]any{"type": c.Type.V, "levels": c.LevelNames(), "unknown": c.Unknown.Or(data.RejectRow)})
		}
		add(missing(d, c))
	}
	for _, c := range d.Derived {
		add := adder(&list, c.Name.V, c.Source.V)
		add("derive", map[string]any{"is": c.Derive.Text.V})
		if c.Numeric() {
			numeric(add, d, c, false)
		}
	}
	for _, t := range d.Tensors {
		columns := t.Columns
		first, last := columns[0], columns[len(columns)-1]
		add := adder(&list, fmt.Sprintf("%s (%s to %s)", t.Name.V, first.Name.V, last.Name.V), t.Source.V)
		if t.Sequence() {
			of := map[string]any{"of": t.From.V, "length": len(columns)}
			switch {
			case t.Text.IsSet():
				of["text"] = t.Text.V
			case t.Words.IsSet():
				of["tokens"] = t.Words.V
			default:
				of["tokens"] = t.Tokens.V
			}
			add("tokens", of)
			continue
		}
		numeric(add, d, first, false)
		if t.Binarize.IsSet() {
			add("binarize", map[string]any{"mode": t.Binarize.V})
		}
		add("missing", map[string]any{"rule": data.MissingReject})
	}
	for _, b := range bought {
		price(list, b, d.OutOfRange.Or("clamp"))
	}
	for _, l := range levels {
		priceLevels(list, l)
	}
	return list
}

// reading is the declared notation of the table.
func reading(d *data.Data) *Reading {
	r := &Reading{Decimal: d.Decimal.Or("."), Thousands: d.Thousands.V, Dates: d.Dates.Or("ymd")}
	for _, t := range d.MissingTokens {
		r.MissingTokens = append(r.MissingTokens, t.V)
	}
	if len(r.MissingTokens) == 0 {
		r.MissingTokens = data.UsualMissingTokens()
	}
	return r
}

// missing is the step of a column's missing values, with the cells that are missing in this column alone.
func missing(d *data.Data, c *data.Column) (operation string, parameters map[string]any) {
	m := d.MissingOf(c)
	operation, parameters = "missing", map[string]any{"rule": m.Rule}
	if m.Rule == data.MissingImpute {
		operation, parameters = "impute", map[string]any{"value": m.Impute.V, "indicator": m.Indicator.V}
	}
	var tokens []string
	for _, t := range c.MissingTokens {
		tokens = append(tokens, t.V)
	}
	if tokens != nil {
		parameters["tokens"] = tokens
	}
	return operation, parameters
}

// priceLevels adds the price of bought levels to the step that uses them.
func priceLevels(list []Preprocessing, l table1.Levels) {
	for i := range list {
		if p := &list[i]; p.Column == l.Column && p.Operation == "encode" {
			p.UsesPrivateData, p.Epsilon = true, l.Price
		}
	}
}

// price adds, to the steps of a column with bought constants, the price of each alone;
// clamp is the step with the bounds.
func price(list []Preprocessing, b table1.Bounds, clamp string) {
	for i := range list {
		p := &list[i]
		if p.Column != b.Column {
			continue
		}
		switch p.Operation {
		case clamp:
			p.UsesPrivateData, p.Epsilon = b.OfBounds > 0, b.OfBounds
		case "scale":
			p.UsesPrivateData, p.Epsilon = true, b.OfScale
		}
	}
}

// adder returns a function that adds the steps of one column to list.
func adder(list *[]Preprocessing, column, source string) func(operation string, parameters map[string]any) {
	if source == "" {
		source = "not stated"
	}
	return func(operation string, parameters map[string]any) {
		*list = append(*list, Preprocessing{Column: column, Operation: operation, Parameters: parameters, Source: source})
	}
}

// fieldsByHeader are the fields of an encoding that read values, by the header of
// their columns; nil for an empty encoding.
func fieldsByHeader(e encoding.Encoding) map[string]encoding.Field {
	if len(e.Fields) == 0 {
		return nil
	}
	fields := map[string]encoding.Field{}
	for _, f := range e.Fields {
		if other, ok := fields[f.Column]; f.Kind != encoding.MissingIndicator && (!ok || other.Scale == 0) {
			fields[f.Column] = f
		}
	}
	return fields
}

// numeric adds the steps of a number. raw keeps the unit of the file.
func numeric(add func(string, map[string]any), d *data.Data, c *data.Column, raw bool) {
	if c.Type.V == data.Date {
		add("days since", map[string]any{"date": c.Cell(0)})
	}
	if c.Symbol.V != "" {
		add("read", map[string]any{"symbol": c.Symbol.V})
	}
	add(d.OutOfRange.Or("clamp"), map[string]any{"lower": c.Lower.V, "upper": c.Upper.V})
	if raw {
		return
	}
	if c.Transform.V != "" {
		add("transform", map[string]any{"function": c.Transform.V})
	}
	center, by := c.Scale()
	add("scale", map[string]any{"center": center, "by": by})
}

// boughtLine is a line about bought constants, for readers.
type boughtLine struct{ What, Price, Noise, Bounds, Outside, Scale string }

// OutsideWords describe the share of the numbers beyond bought bounds.
func OutsideWords(b *table1.Bounds) string {
	if b.Outside == nil {
		return "none: they are the limits"
	}
	share, sd := 100*b.Outside.Share, 100*b.Outside.NoiseSD
	places := max(0, 1-int(math.Floor(math.Log10(sd)))) // two digits of the noise
	return fmt.Sprintf("%.*f %% ± %.*f %% in cells that reach outside", places, share, places, sd)
}

// Bought are the lines about bought constants; before the fit they have no numbers.
func (d *document) Bought() (lines []boughtLine) {
	for i := range d.Mechanism.Levels {
		l := &d.Mechanism.Levels[i]
		line := boughtLine{What: l.Purpose(), Price: fmt.Sprintf("%g", l.Price), Noise: fmt.Sprintf("%.3g", l.Noise)}
		if l.Found != nil {
			line.Bounds = fmt.Sprintf("%d found, of a noisy count of %.3g or more", len(l.Found), l.Threshold)
		}
		lines = append(lines, line)
	}
	for i := range d.Mechanism.Bounds {
		b := &d.Mechanism.Bounds[i]
		line := boughtLine{What: b.Purpose(), Price: b.Price(), Noise: fmt.Sprintf("%.3g", b.Histogram.Noise), Outside: b.Aim()}
		if n := b.Numbers; n != nil {
			if b.OfBounds > 0 {
				line.Bounds, line.Outside = fmt.Sprintf("%g to %g", n.Lower, n.Upper), OutsideWords(b)
			}
			if n.By > 0 {
				line.Scale = fmt.Sprintf("%g ± %g", n.Center, n.By)
			} else if b.OfScale > 0 {
				line.Scale = "not found"
			}
		}
		lines = append(lines, line)
	}
	if u := d.Mechanism.Units; u != nil {
		line := boughtLine{What: u.Purpose(), Price: fmt.Sprintf("%g", u.Price), Noise: fmt.Sprintf("%.3g", u.Noise)}
		if u.Number != nil {
			line.Bounds = fmt.Sprintf("%g", *u.Number)
		}
		lines = append(lines, line)
	}
	return lines
}

// Words describe the notation.
func (r *Reading) Words() string {
	between := ""
	if r.Thousands != "" {
		between = fmt.Sprintf(", with %q between groups of three digits", r.Thousands)
	}
	dates := map[string]string{data.DayFirst: ", or the day first", data.MonthFirst: ", or the month first"}[r.Dates]
	return fmt.Sprintf("A file of text was read by the notation of the model file: decimal sign %q%s; dates as year-month-day%s. "+
		"A cell counts as missing if it is empty, is one of %s, or is no number or date in a column of those.", r.Decimal, between, dates, constant(r.MissingTokens))
}
