package spec

import (
	"slices"
	"strings"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
	"d3p/internal/settings"
	"d3p/internal/spell"
)

// dataFields are the keys of `data:`; within, rules and binarize are read before the columns that
// they are about are known.
func (s *Spec) dataFields(within *source.Value[string], rules *[]namedRule, modes *[]binarize) []field {
	d := &s.Data
	return []field{
		inline("unit", unitFields(&d.Unit)).notedAt(&d.Unit.At).
			needed("add `unit: {entity: person, rows_per_unit: 1}`", "data has no unit: say what one protected entity is"),
		rows(&d.Rows),
		choice("out_of_range", &d.OutOfRange, "clamp", "reject").or("clamp"),
		distinct("missing_tokens", "token", &d.MissingTokens),
		choice("decimal", &d.Decimal, ".", ",").quoted(&d.Decimal),
		choice("dates", &d.Dates, data.DayFirst, data.MonthFirst),
		choice("encoding", &d.Encoding, Encodings()...),
		choice("format", &d.Format, Formats()...),
		choice("separator", &d.Separator, Separators()...).quoted(&d.Separator),
		choice("quotes", &d.Quotes, OneLine, NoQuotes),
		distinct("header", "column", &d.Header),
		declared("columns", &d.Columns, readColumn, func(p *printer, c *data.Column) { p.line(c.Name.V, flow(columnFields(d, c))) }),
		derived(d, s.Model != nil),
		named("tensors", &d.Tensors, readTensor, func(p *printer, t *data.Tensor) {
			p.block(t.Name.V, func() { p.fields(tensorFields(t)) })
		}),
		binarizes(d, modes),
		declared("tables", &d.Tables, readTable, func(p *printer, t *data.Table) {
			p.block(t.Name.V, func() { p.fields(tableFields(t)) })
		}),
		text("weights", &d.Weights),
		distinct("drop", "column", &d.Drop),
		choice("constant_within", within, data.NoGroup).unprinted(), // printed with the columns
		named("missing", rules, readRule, nil).unprinted(),
	}
}

// readData reads the block `data:`.
func (s *Spec) readData(r *reader, e entry) {
	d := &s.Data
	d.At = e.at
	var rules []namedRule
	var modes []binarize
	var within source.Value[string]
	keys := r.object(e, "data", s.dataFields(&within, &rules, &modes))
	if keys == nil {
		return
	}
	for _, m := range modes {
		r.binarize(m, d) // after the tensors that it is about
	}
	if !keys["columns"] && !keys["tensors"] {
		r.Add(e.at, "add `columns:` with one line per column", "data declares no columns")
	}
	for _, c := range d.Columns {
		if !c.ConstantWithin.IsSet() {
			c.ConstantWithin = within
		}
	}
	r.applyMissing(rules, d) // after the columns that they are about
	r.checkUnit(&d.Unit)
	r.checkWeights(d)
	r.checkDerived(d)
	r.checkHeader(d)
	r.checkSeparator(d)
	for _, c := range d.Drop {
		if d.Column(c.V) != nil {
			r.Add(c.At, "", "column %s is both declared and dropped", c.V)
		}
	}
}

// unitFields are the keys of `unit:`.
func unitFields(u *data.Unit) []field {
	return []field{
		text("entity", &u.Entity).needed("add `entity: person`, or whatever one unit is", "unit has no entity"),
		text("id", &u.ID),
		count("rows_per_unit", &u.RowsPerUnit, 1).needed("add `rows_per_unit: 1` when every unit has one row", "unit has no rows_per_unit"),
		choice("keep", &u.Keep, "random", "first").or("random").when(u.ID.IsSet()),
	}
}

// checkUnit reports keys of `unit:` that contradict each other.
func (r *reader) checkUnit(u *data.Unit) {
	switch {
	case u.RowsPerUnit.V > 1 && !u.ID.IsSet():
		r.Add(u.RowsPerUnit.At, "add `id:` with the column that names the unit", "%d rows per unit, but no column says which rows belong together", u.RowsPerUnit.V)
	case u.RowsPerUnit.V > data.MaxRowsPerUnit:
		r.Add(u.RowsPerUnit.At, "keep a random choice of fewer", "at most %d rows per unit are possible, not %d", data.MaxRowsPerUnit, u.RowsPerUnit.V)
	case u.Keep.IsSet() && !u.ID.IsSet():
		r.Add(u.Keep.At, "add `id:` with the column that names the unit", "no column says which rows belong together, so none can be left out")
	}
}

// rows is `rows: {public: N}`, `{upper_bound: N}` or `{upper_bound: N, dp: epsilon}`.
func rows(v *data.Rows) field {
	fields := []field{
		value("public", &v.Public, (*reader).records),
		value("upper_bound", &v.UpperBound, (*reader).records),
		value("dp", &v.DP, (*reader).epsilonOf),
	}
	f := inline("rows", fields).needed("add `rows: {public: N}` or `rows: {upper_bound: N}`", "data has no rows: the number of records is private unless declared")
	f.read = func(r *reader, e entry) {
		v.At = e.at
		keys := r.object(e, "rows", fields)
		switch {
		case keys == nil:
		case keys["public"] && keys["dp"]:
			r.Add(v.DP.At, "leave dp out, or write `upper_bound:` for a bound", "the number of rows is public: there is nothing to buy")
		case keys["dp"] && !keys["upper_bound"]:
			r.Add(v.DP.At, "add `upper_bound:`: batches, steps and noise follow from a public number", "the number of rows is bought beside a bound on it")
		case keys["public"] == keys["upper_bound"]:
			r.Add(e.at, "", "rows must have exactly one of public and upper_bound")
		}
	}
	return f
}

// records reads a number of records, which is a setting, too.
func (r *reader) records(e entry) source.Value[int] {
	v := r.setting(e, settings.Named("records"))
	n, _ := v.V.(int)
	return source.Value[int]{V: n, At: v.At}
}

// epsilonOf reads a price: a number, or `{epsilon: number}`.
func (r *reader) epsilonOf(e entry) (v source.Value[float64]) {
	if !e.isMapping() {
		return r.positive(e)
	}
	r.object(e, e.key, []field{positive("epsilon", &v)})
	return v
}

// checkWeights reports weights that are no column of numbers from 0 on.
func (r *reader) checkWeights(d *data.Data) {
	w := d.Weights
	if !w.IsSet() {
		return
	}
	switch c := d.Column(w.V); {
	case c == nil:
		r.Add(w.At, spell.Suggest(w.V, "columns", d.ColumnNames()), "undeclared column %s in weights", w.V)
	case c.Derive != nil:
		r.Add(w.At, "", "weights must stand in the file, but %s is derived", c.Name.V)
	case c.Type.IsSet() && !c.Numeric():
		r.Add(w.At, "", "weights must be numbers, but %s is %s", c.Name.V, c.Type.V)
	case c.Lower.IsSet() && c.Lower.V < 0:
		r.Add(c.Lower.At, "", "%s is a weight: its lower bound must be at least 0, not %s", c.Name.V, source.FormatNumber(c.Lower.V))
	}
}

// Encodings are the names, for `data: encoding:`, of how the letters of a file of
// text are written.
func Encodings() []string {
	return []string{"utf-8", "latin1", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1257", "utf-16le", "utf-16be"}
}

// Formats are the names, for `data: format:`, of what a file is: the ends that names
// of such files have.
func Formats() []string {
	return []string{"csv", "csv.gz", "parquet", "npy", "npy.gz", "idx", "idx.gz"}
}

// Separators are the names, for `data: separator:`, of separators between fields.
func Separators() []string { return []string{",", ";", "|", "tab"} }

// The values of `data: quotes:` besides RFC 4180, where a quoted field may hold line
// ends: a quote that is open at the end of its line is a mistake; or quotes are letters
// like any other.
const (
	OneLine  = "one_line"
	NoQuotes = "none"
)

// checkSeparator checks that a CSV file without a header line has a declared
// separator.
func (r *reader) checkSeparator(d *data.Data) {
	text := !d.Format.IsSet() || strings.HasPrefix(d.Format.V, "csv")
	if len(d.Header) > 0 && text && !d.Separator.IsSet() {
		hint := "add `separator: \",\"`, or \";\", \"|\", tab"
		if d.Decimal.V == "," {
			hint = "add `separator: \";\"`, or \",\", \"|\", tab"
		}
		r.Add(d.Header[0].At, hint, "header: a file without header line does not say what separates its fields")
	}
	if d.Separator.V == ";" && !d.Decimal.IsSet() {
		r.Add(d.Separator.At, "add `decimal: \",\"`, as in 3,14, or `decimal: \".\"`", "fields are separated by semicolons, so decimals may be commas")
	}
}

// checkHeader checks that `header:`, which replaces the first line of a file, names the
// columns that are read.
func (r *reader) checkHeader(d *data.Data) {
	if len(d.Header) == 0 {
		return
	}
	names := make([]string, len(d.Header))
	for i, h := range d.Header {
		names[i] = h.V
	}
	at, hint := d.Header[0].At, "name all columns of the file in order, also those that nothing reads"
	for _, name := range d.Headers() {
		if !slices.Contains(names, name) {
			r.Add(at, hint, "header does not name %s", name)
		}
	}
	if id := d.Unit.ID; id.IsSet() && !slices.Contains(names, id.V) {
		r.Add(at, hint, "header does not name %s, the id of the unit", id.V)
	}
}
