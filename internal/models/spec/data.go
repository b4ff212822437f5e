package spec

import (
	"fmt"
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
			needed("add `unit: {entity: person, rows_per_unit: 1}`", "data has no unit: name the protected entity").means("what one record protects: an entity, by its rows"),
		rows(&d.Rows).means("the number of units"),
		choice("out_of_range", &d.OutOfRange, "clamp", "reject").or("clamp").means("clamp (the default) moves a value to the nearest bound; reject makes the record contribute nothing"),
		distinct("missing_tokens", "token", &d.MissingTokens).means("cells without a value; default: empty, NA, N/A, NaN, null, NULL and a point; a number matches every spelling of it"),
		choice("decimal", &d.Decimal, ".", ",").quoted(&d.Decimal).means("the decimal sign of a CSV file; a file with semicolons between fields must state it"),
		choice("thousands", &d.Thousands, ",", ".", "'", " ").quoted(&d.Thousands).means("the sign between groups of three digits in a CSV file, as in 1,234,567"),
		choice("dates", &d.Dates, data.DayFirst, data.MonthFirst).means("order of day and month in 29.2.2024, 29/02/2024 and 29-2-2024; dmy also reads 29FEB2024; ISO 8601 and 2024/02/29 are always read"),
		choice("encoding", &d.Encoding, Encodings()...).means("of a CSV file; default UTF-8; a byte order mark before a header line wins"),
		choice("format", &d.Format, Formats()...).means("of the file, if its name does not show it"),
		choice("separator", &d.Separator, Separators()...).quoted(&d.Separator).means("between the fields of a CSV file; default: the most frequent one of the header line"),
		choice("quotes", &d.Quotes, OneLine, NoQuotes).means("one_line: no quoted field contains a line end; none: quotes have no meaning; default: RFC 4180"),
		distinct("header", "column", &d.Header).means("all column names in order, for a CSV file without a header line, which needs separator, too, or an array; a tensor stands for its columns"),
		declared("columns", &d.Columns, readColumn, func(p *printer, c *data.Column) { p.line(c.Name.V, flow(columnFields(d, c))) }).means("public facts about each column"),
		derived(d, s.Model != nil).means("columns computed from a record's own columns: an expression, in the unit of the file, or a mapping"),
		named("tensors", &d.Tensors, readTensor, func(p *printer, t *data.Tensor) {
			p.block(t.Name.V, func() { p.fields(tensorFields(t)) })
		}).means("columns as one array, for networks"),
		binarizes(d, modes).means("tensors whose values in [0, 1] become 0 or 1"),
		declared("tables", &d.Tables, readTable, func(p *printer, t *data.Table) {
			p.block(t.Name.V, func() { p.fields(tableFields(t)) })
		}).means("public tables with a row for each level of a category"),
		text("weights", &d.Weights).means("a column from 0 on, in the unit of the file, that multiplies the log density of its record; divide weights of a survey by their mean, or intervals are too narrow"),
		distinct("drop", "column", &d.Drop).means("columns of the file that the model must not see"),
		choice("constant_within", within, data.NoGroup).unprinted().means("none: columns without this key vary within groups"), // printed with the columns
		named("missing", rules, readRule, nil).unprinted().means("what a missing value means, per column or as default: reject (the record contributes nothing), model (the model has its probability) or impute"),
	}
}

// readData reads the block `data:`.
func (s *Spec) readData(r *reader, e entry) {
	d := &s.Data
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
	r.checkThousands(d)
	for _, c := range d.Drop {
		if d.Column(c.V) != nil {
			r.Add(c.At, "", "column %s is both declared and dropped", c.V)
		}
	}
}

// unitFields are the keys of `unit:`.
func unitFields(u *data.Unit) []field {
	return []field{
		text("entity", &u.Entity).needed("add `entity: person`, or whatever one unit is", "unit has no entity").means("a word for one unit, such as patient"),
		text("id", &u.ID).means("the column that names the unit of a row, as text; not declared under columns; without it every row is a unit"),
		count("rows_per_unit", &u.RowsPerUnit, 1).needed("add `rows_per_unit: 1` when every unit has one row", "unit has no rows_per_unit").means("the most rows of a unit that are used"),
		choice("keep", &u.Keep, "random", "first").or("random").means("which rows of a unit are used where it has more; default random").when(u.ID.IsSet()),
	}
}

// checkUnit reports keys of `unit:` that contradict each other.
func (r *reader) checkUnit(u *data.Unit) {
	switch {
	case u.RowsPerUnit.V > 1 && !u.ID.IsSet():
		r.Add(u.RowsPerUnit.At, "add `id:` with the column that names the unit", "%d rows per unit, but no column shows which rows belong together", u.RowsPerUnit.V)
	case u.RowsPerUnit.V > data.MaxRowsPerUnit:
		r.Add(u.RowsPerUnit.At, "keep a random choice of fewer", "at most %d rows per unit are possible, not %d", data.MaxRowsPerUnit, u.RowsPerUnit.V)
	case u.Keep.IsSet() && !u.ID.IsSet():
		r.Add(u.Keep.At, "add `id:` with the column that names the unit", "no column shows which rows belong together, so none can be left out")
	}
}

// rows is `rows: {public: N}`, `{upper_bound: N}` or `{upper_bound: N, dp: epsilon}`.
func rows(v *data.Rows) field {
	fields := []field{
		value("public", &v.Public, (*reader).records).means("the number, where it is public"),
		value("upper_bound", &v.UpperBound, (*reader).records).means("a public bound on it; the number stays secret"),
		value("dp", &v.DP, (*reader).epsilonOf).means("buys a noisy number beside the bound, for this epsilon if bought alone"),
	}
	f := inline("rows", fields).needed("add `rows: {public: N}` or `rows: {upper_bound: N}`", "data has no rows: the number of records is private unless declared")
	f.read = func(r *reader, e entry) {
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
	r.object(e, e.key, []field{positive("epsilon", &v).means(oldNameOf + "the number alone")})
	return v
}

// mostWeight is an upper bound of weights whose mean is 1.
const mostWeight = 20

// checkWeights reports weights that are no column of numbers from 0 on, and warns of large ones.
func (r *reader) checkWeights(d *data.Data) {
	w := d.Weights
	if !w.IsSet() {
		return
	}
	switch c := d.Column(w.V); {
	case c == nil:
		r.Add(w.At, spell.Suggest(w.V, "columns", d.ColumnNames()), "undeclared column %s in weights", w.V)
	case c.Derive != nil:
		hint := fmt.Sprintf("write %s into a column of the file, and declare that under columns, as in `%s: {type: real, lower: 0, upper: 5}`, in place of the derived one", c.Derive.Text.V, c.Name.V)
		r.Add(w.At, hint, "weights must stand in the file, where Table 1 measures them, but %s is derived", c.Name.V)
	case c.Type.IsSet() && !c.Numeric():
		r.Add(w.At, "declare it as `{type: real, lower: 0, upper: 5}`, or name another column", "weights must be numbers, but %s is %s", c.Name.V, c.Type.V)
	case c.Lower.IsSet() && c.Lower.V < 0:
		r.Add(c.Lower.At, "write `lower: 0`", "%s is a weight: its lower bound must be at least 0, not %s", c.Name.V, source.FormatNumber(c.Lower.V))
	case c.Upper.V > mostWeight:
		r.spec.Warnings.Add(w.At, "divide weights of a survey by their mean, in the file", "a record of weight %s counts as %[1]s records: large weights make intervals too narrow", source.FormatNumber(c.Upper.V))
	}
}

// Encodings are the names, for `data: encoding:`, of how the letters of a file of
// text are written.
func Encodings() []string {
	return []string{"utf-8", "latin1", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1257", "utf-16le", "utf-16be"}
}

// Formats are the names of `data: format:`, which are also the ends of file names.
func Formats() []string {
	return []string{"csv", "csv.gz", "parquet", "npy", "npy.gz", "idx", "idx.gz", "cifar10"}
}

// Separators are the names, for `data: separator:`, of separators between fields.
func Separators() []string { return []string{",", ";", "|", "tab"} }

// The values of `data: quotes:` besides RFC 4180, under which a quoted field may hold line
// ends. With the first, a quote that is open at the end of its line is a mistake; with the
// second, quotes are ordinary characters.
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
		hint += "; for an array `format: npy`"
		r.Add(d.Header[0].At, hint, "header: a file without header line does not show what separates its fields")
	}
	if d.Separator.V == ";" && !d.Decimal.IsSet() {
		r.Add(d.Separator.At, "add `decimal: \",\"`, as in 3,14, or `decimal: \".\"`", "fields are separated by semicolons, so decimals may be commas")
	}
}

// checkThousands reports a sign that would mean two things.
func (r *reader) checkThousands(d *data.Data) {
	if d.Thousands.IsSet() && d.Thousands.V == d.Decimal.Or(".") {
		hint := "add `decimal: \",\"`"
		if d.Decimal.IsSet() {
			hint = "name two signs"
		}
		r.Add(d.Thousands.At, hint, "thousands: decimals have the sign %s, too", d.Thousands.V)
	}
}

// headerTensors replaces the names of tensors in `header:` by those of their columns.
func (r *reader) headerTensors(d *data.Data) {
	var header []source.Value[string]
	for _, h := range d.Header {
		t := d.Tensor(h.V)
		switch {
		case t == nil:
			header = append(header, h)
		case t.Sequence():
			header = append(header, source.Value[string]{V: t.From.V, At: h.At})
		default:
			for _, c := range t.Columns {
				header = append(header, source.Value[string]{V: c.HeaderName(), At: h.At})
			}
		}
	}
	if len(header) > len(d.Header) {
		r.unique("column", header)
	}
	d.Header = header
}

// checkHeader checks that `header:`, which replaces the first line of a file, names the
// columns that are read.
func (r *reader) checkHeader(d *data.Data) {
	if len(d.Header) == 0 {
		return
	}
	r.headerTensors(d)
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
