package spec

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
	"d3p/internal/settings"
	"d3p/internal/spell"
)

// data reads the block `data:`.
func (r *reader) data(e entry, d *data.Data) {
	d.At = e.at
	var rules []namedRule
	var binarize entry
	var within source.Value[string]
	known := fields{
		"unit":           func(e entry) { r.unit(e, &d.Unit) },
		"rows":           func(e entry) { r.rows(e, &d.Rows) },
		"out_of_range":   func(e entry) { d.OutOfRange = r.choice(e, "clamp", "reject") },
		"columns":        func(e entry) { d.Columns = r.columns(e) },
		"derive":         func(e entry) { d.Derived = r.derived(e) },
		"tables":         func(e entry) { d.Tables = r.tables(e) },
		"missing":        func(e entry) { rules = r.missingRules(e) },
		"missing_tokens": func(e entry) { d.MissingTokens = r.texts(e); r.unique("token", d.MissingTokens) },
		"decimal":        func(e entry) { d.Decimal = r.choice(e, ".", ",") },
		"dates":          func(e entry) { d.Dates = r.choice(e, data.DayFirst, data.MonthFirst) },
		"encoding":       func(e entry) { d.Encoding = r.choice(e, Encodings()...) },
		"format":         func(e entry) { d.Format = r.choice(e, Formats()...) },
		"separator":      func(e entry) { d.Separator = r.choice(e, Separators()...) },
		"quotes":         func(e entry) { d.Quotes = r.choice(e, OneLine, NoQuotes) },
		"header":         func(e entry) { d.Header = r.texts(e); r.unique("column", d.Header) },
		"drop":           func(e entry) { d.Drop = r.texts(e); r.unique("column", d.Drop) },
		"weights":        func(e entry) { d.Weights = r.text(e) },
		"tensors":        func(e entry) { d.Tensors = r.tensors(e) },

		"constant_within": func(e entry) { within = r.choice(e, data.NoGroup) },

		"binarize": func(e entry) {
			if binarize = e; r.shape != nil {
				r.binarize(e, d)
			}
		},
	}
	keys := r.object(e.node, "data", known)
	if keys == nil {
		return
	}
	if !keys["unit"] {
		r.Add(e.at, "add `unit: {entity: person, rows_per_unit: 1}`", "data has no unit: say what one protected entity is")
	}
	if !keys["rows"] {
		r.Add(e.at, "add `rows: {public: N}` or `rows: {upper_bound: N}`", "data has no rows: the number of records is private unless declared")
	}
	if binarize.node != nil {
		r.binarize(binarize, d) // after the tensors that it speaks of
	}
	if !keys["columns"] && !keys["tensors"] {
		r.Add(e.at, "add `columns:` with one line per column", "data declares no columns")
	}
	for _, c := range d.Columns {
		if !c.ConstantWithin.IsSet() {
			c.ConstantWithin = within
		}
	}
	r.applyMissing(rules, d) // after the columns that they speak of
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

// unit reads `unit: {entity:, id:, rows_per_unit:, keep:}`.
func (r *reader) unit(e entry, u *data.Unit) {
	u.At = e.at
	keys := r.object(e.node, "unit", fields{
		"entity":        func(e entry) { u.Entity = r.text(e) },
		"id":            func(e entry) { u.ID = r.text(e) },
		"rows_per_unit": func(e entry) { u.RowsPerUnit = r.count(e, 1) },
		"keep":          func(e entry) { u.Keep = r.choice(e, "random", "first") },
	})
	if keys == nil {
		return
	}
	if !keys["entity"] {
		r.Add(e.at, "add `entity: person`, or whatever one unit is", "unit has no entity")
	}
	if !keys["rows_per_unit"] {
		r.Add(e.at, "add `rows_per_unit: 1` when every unit has one row", "unit has no rows_per_unit")
	}
	switch {
	case u.RowsPerUnit.V > 1 && !u.ID.IsSet():
		r.Add(u.RowsPerUnit.At, "add `id:` with the column that names the unit", "%d rows per unit, but no column says which rows belong together", u.RowsPerUnit.V)
	case u.RowsPerUnit.V > data.MaxRowsPerUnit:
		r.Add(u.RowsPerUnit.At, "keep a random choice of fewer", "at most %d rows per unit are possible, not %d", data.MaxRowsPerUnit, u.RowsPerUnit.V)
	case u.Keep.IsSet() && !u.ID.IsSet():
		r.Add(u.Keep.At, "add `id:` with the column that names the unit", "no column says which rows belong together, so none can be left out")
	}
}

// rows reads `rows: {public: N}`, `{upper_bound: N}` or `{dp: epsilon}`.
func (r *reader) rows(e entry, rows *data.Rows) {
	rows.At = e.at
	keys := r.object(e.node, "rows", fields{
		"public":      func(e entry) { rows.Public = r.records(e) },
		"upper_bound": func(e entry) { rows.UpperBound = r.records(e) },
		"dp":          func(e entry) { rows.DP = r.epsilonOf(e) },
	})
	if keys != nil && len(keys) != 1 {
		r.Add(e.at, "", "rows must have exactly one of public, upper_bound and dp")
	}
	if rows.DP.IsSet() {
		r.Add(rows.DP.At, "declare `public:` or `upper_bound:`", "buying the number of rows is not available yet")
	}
}

// records reads a number of records, which is a setting, too.
func (r *reader) records(e entry) source.Value[int] {
	v := r.setting(e, settings.Named("records"))
	n, _ := v.V.(int)
	return source.Value[int]{V: n, At: v.At}
}

// epsilonOf reads a price: a number, or `{epsilon: number}`.
func (r *reader) epsilonOf(e entry) (v source.Value[float64]) {
	if _, ok := e.node.(*ast.MappingNode); !ok {
		return r.positive(e)
	}
	r.object(e.node, e.key, fields{"epsilon": func(e entry) { v = r.positive(e) }})
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

// Separators are the names, for `data: separator:`, of what stands between fields.
func Separators() []string { return []string{",", ";", "|", "tab"} }

// What `data: quotes:` may say of a file of text besides RFC 4180, where a quoted field
// may hold line ends: a quote that is open at the end of its line is a mistake; or
// quotes are letters like any other.
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

// checkHeader checks that `header:`, which stands for the first line of a file,
// names what is read from it.
func (r *reader) checkHeader(d *data.Data) {
	if len(d.Header) == 0 {
		return
	}
	names := make([]string, len(d.Header))
	for i, h := range d.Header {
		names[i] = h.V
	}
	at, hint := d.Header[0].At, "name all columns of the file in order, also those that nothing reads"
	for _, c := range d.AllColumns() {
		if !slices.Contains(names, c.HeaderName()) {
			r.Add(at, hint, "header does not name %s", c.HeaderName())
		}
	}
	if id := d.Unit.ID; id.IsSet() && !slices.Contains(names, id.V) {
		r.Add(at, hint, "header does not name %s, the id of the unit", id.V)
	}
}
