package spec

import (
	"github.com/goccy/go-yaml/ast"

	"d3p/internal/settings"
)

// Data is the declaration of the table: all of it is public knowledge, stated
// before a record is read.
type Data struct {
	At         Position // of the key `data`
	Unit       Unit
	Rows       Rows
	OutOfRange Value[string] // clamp or reject
	Columns    []*Column     // in file order
	Tensors    []*Tensor     // arrays of further columns
	Tables     []*Table      // public tables, joined by a category column
	Missing    Missing       // the rule of columns that state none
	// MissingTokens are the cells that mean "no value"; unset: the usual ones.
	MissingTokens []Value[string]
	Decimal       Value[string]   // "." or ",": how files of text write numbers; unset: the point
	Dates         Value[string]   // DayFirst or MonthFirst: how files of text write dates; unset: ISO 8601
	Encoding      Value[string]   // one of Encodings: how files of text write letters; unset: UTF-8
	Format        Value[string]   // one of Formats: what a file is; unset: its name says it
	Separator     Value[string]   // one of Separators: what separates fields in files of text; unset: the header line says it
	Quotes        Value[string]   // OneLine or NoQuotes: what quotes may do in files of text; unset: join lines, too
	Header        []Value[string] // names of all columns of files whose first line is a record; unset: it names them
	Drop          []Value[string] // columns of the file that the model must not see
	Weights       Value[string]   // the column that weights the log density of a record; unset: 1
}

// Unit says what one protected entity is. It has no default.
type Unit struct {
	At          Position
	Entity      Value[string] // a word for people: patient, household
	ID          Value[string] // the column that names the unit; unset: every row is a unit
	RowsPerUnit Value[int]    // rows of a unit that are kept
	Keep        Value[string] // which rows of a longer unit to keep: random or first
}

// MaxRowsPerUnit bounds RowsPerUnit: the model is lowered once for every row.
const MaxRowsPerUnit = 64

// Rows says how the number of units is known: exactly one of the three is set.
type Rows struct {
	At         Position
	Public     Value[int]     // the number itself is public
	UpperBound Value[int]     // a public bound on it
	DP         Value[float64] // bought for this epsilon
}

// N is the public number that scales sums: the public number of units or its
// upper bound; 0 when the number is bought.
func (r Rows) N() int {
	if r.Public.IsSet() {
		return r.Public.V
	}
	return r.UpperBound.V
}

// Column returns the declared column of that name, or nil.
func (d *Data) Column(name string) *Column {
	for _, c := range d.Columns {
		if c.Name.V == name {
			return c
		}
	}
	return nil
}

// columnNames lists the declared columns in file order.
func (d *Data) columnNames() []string {
	names := make([]string, len(d.Columns))
	for i, c := range d.Columns {
		names[i] = c.Name.V
	}
	return names
}

// data reads the block `data:`.
func (r *reader) data(e entry, d *Data) {
	d.At = e.at
	var rules []namedRule
	var binarize entry
	known := fields{
		"unit":           func(e entry) { r.unit(e, &d.Unit) },
		"rows":           func(e entry) { r.rows(e, &d.Rows) },
		"out_of_range":   func(e entry) { d.OutOfRange = r.choice(e, "clamp", "reject") },
		"columns":        func(e entry) { d.Columns = r.columns(e) },
		"tables":         func(e entry) { d.Tables = r.tables(e) },
		"missing":        func(e entry) { rules = r.missingRules(e) },
		"missing_tokens": func(e entry) { d.MissingTokens = r.texts(e); r.unique("token", d.MissingTokens) },
		"decimal":        func(e entry) { d.Decimal = r.choice(e, ".", ",") },
		"dates":          func(e entry) { d.Dates = r.choice(e, DayFirst, MonthFirst) },
		"encoding":       func(e entry) { d.Encoding = r.choice(e, Encodings()...) },
		"format":         func(e entry) { d.Format = r.choice(e, Formats()...) },
		"separator":      func(e entry) { d.Separator = r.choice(e, Separators()...) },
		"quotes":         func(e entry) { d.Quotes = r.choice(e, OneLine, NoQuotes) },
		"header":         func(e entry) { d.Header = r.texts(e); r.unique("column", d.Header) },
		"drop":           func(e entry) { d.Drop = r.texts(e); r.unique("column", d.Drop) },
		"weights":        func(e entry) { d.Weights = r.text(e) },
		"tensors":        func(e entry) { d.Tensors = r.tensors(e) },
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
		r.add(e.at, "add `unit: {entity: person, rows_per_unit: 1}`", "data has no unit: say what one protected entity is")
	}
	if !keys["rows"] {
		r.add(e.at, "add `rows: {public: N}` or `rows: {upper_bound: N}`", "data has no rows: the number of records is private unless declared")
	}
	if binarize.node != nil {
		r.binarize(binarize, d) // after the tensors that it speaks of
	}
	if !keys["columns"] && !keys["tensors"] {
		r.add(e.at, "add `columns:` with one line per column", "data declares no columns")
	}
	r.applyMissing(rules, d) // after the columns that they speak of
	r.checkWeights(d)
	r.checkHeader(d)
	r.checkSeparator(d)
	for _, c := range d.Drop {
		if d.Column(c.V) != nil {
			r.add(c.At, "", "column %s is both declared and dropped", c.V)
		}
	}
}

// unit reads `unit: {entity:, id:, rows_per_unit:, keep:}`.
func (r *reader) unit(e entry, u *Unit) {
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
		r.add(e.at, "add `entity: person`, or whatever one unit is", "unit has no entity")
	}
	if !keys["rows_per_unit"] {
		r.add(e.at, "add `rows_per_unit: 1` when every unit has one row", "unit has no rows_per_unit")
	}
	switch {
	case u.RowsPerUnit.V > 1 && !u.ID.IsSet():
		r.add(u.RowsPerUnit.At, "add `id:` with the column that names the unit", "%d rows per unit, but no column says which rows belong together", u.RowsPerUnit.V)
	case u.RowsPerUnit.V > MaxRowsPerUnit:
		r.add(u.RowsPerUnit.At, "keep a random choice of fewer", "at most %d rows per unit are possible, not %d", MaxRowsPerUnit, u.RowsPerUnit.V)
	case u.Keep.IsSet() && !u.ID.IsSet():
		r.add(u.Keep.At, "add `id:` with the column that names the unit", "no column says which rows belong together, so none can be left out")
	}
}

// rows reads `rows: {public: N}`, `{upper_bound: N}` or `{dp: epsilon}`.
func (r *reader) rows(e entry, rows *Rows) {
	rows.At = e.at
	keys := r.object(e.node, "rows", fields{
		"public":      func(e entry) { rows.Public = r.records(e) },
		"upper_bound": func(e entry) { rows.UpperBound = r.records(e) },
		"dp":          func(e entry) { rows.DP = r.epsilonOf(e) },
	})
	if keys != nil && len(keys) != 1 {
		r.add(e.at, "", "rows must have exactly one of public, upper_bound and dp")
	}
	if rows.DP.IsSet() {
		r.add(rows.DP.At, "declare `public:` or `upper_bound:`", "buying the number of rows is not available yet")
	}
}

// records reads a number of records, which is a setting, too.
func (r *reader) records(e entry) Value[int] {
	v := r.setting(e, settings.Named("records"))
	n, _ := v.V.(int)
	return Value[int]{n, v.At}
}

// epsilonOf reads a price: a number, or `{epsilon: number}`.
func (r *reader) epsilonOf(e entry) (v Value[float64]) {
	if _, ok := e.node.(*ast.MappingNode); !ok {
		return r.positive(e)
	}
	r.object(e.node, e.key, fields{"epsilon": func(e entry) { v = r.positive(e) }})
	return v
}
