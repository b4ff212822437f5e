package spec

import (
	"math"
	"slices"
)

// Table declares a public table with one row per level of a category: what is
// known about hospitals, schools or districts without looking at the records.
type Table struct {
	Name    Value[string]
	File    Value[string]
	Public  Value[bool]
	Key     Value[string] // the category column; its levels stand in the table's column of that name
	Columns []*Column
	// values are the cells of each column by level of the key: numbers on their
	// scale, or indices of levels.
	values map[string][]float64
}

// Vector returns, by level of the key, what a label means: a number on its
// scale, or 1 for the levels that label=level names and 0 for others.
func (t *Table) Vector(label string) ([]float64, bool) {
	for _, c := range t.Columns {
		for _, f := range append(c.factors(true), Factor{Column: c, Level: -1}) {
			if f.Label() != label || f.Level < 0 && !c.Numeric() && c.Type.V != Binary {
				continue
			}
			v := slices.Clone(t.values[c.Name.V])
			if f.Level >= 0 {
				for i := range v {
					v[i] = indicator(v[i] == float64(f.Level))
				}
			}
			return v, len(v) > 0
		}
	}
	return nil, false
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Column returns the table's column of that name, or nil.
func (t *Table) Column(name string) *Column {
	for _, c := range t.Columns {
		if c.Name.V == name {
			return c
		}
	}
	return nil
}

// Table returns the public table of a category column, or nil.
func (d *Data) Table(key string) *Table {
	for _, t := range d.Tables {
		if t.Key.V == key {
			return t
		}
	}
	return nil
}

// tables reads `tables:`.
func (r *reader) tables(e entry) []*Table {
	list, ok := r.entries(e.node, "tables")
	if !ok {
		return nil
	}
	var tables []*Table
	for _, e := range list {
		t := &Table{Name: Value[string]{e.key, e.at}, values: make(map[string][]float64)}
		tables = append(tables, t)
		if e.node == nil {
			continue
		}
		keys := r.object(e.node, "table "+e.key, fields{
			"file": func(e entry) {
				if t.File = r.text(e); t.File.IsSet() {
					t.File.V = r.relative(t.File.V)
				}
			},
			"public":  func(e entry) { t.Public = r.boolean(e) },
			"key":     func(e entry) { t.Key = r.text(e) },
			"columns": func(e entry) { t.Columns = r.tableColumns(e) },
		})
		if keys != nil && (!keys["file"] || !keys["key"]) {
			r.add(t.Name.At, "", "table %s needs a file and a key", e.key)
		}
		if keys != nil && !t.Public.V {
			r.add(t.Name.At, "write `public: true` when it is", "table %s is not declared public: a private table cannot be read in the clear", e.key)
		}
	}
	return tables
}

// tableColumns reads the columns of a public table: as its numbers are public,
// they need no bounds.
func (r *reader) tableColumns(e entry) []*Column {
	return r.declarations(e, func(c *Column, keys present) {
		if keys == nil {
			return
		}
		if !keys["type"] {
			r.add(c.Name.At, "", "column %s has no type", c.Name.V)
		}
		if c.Type.V == Date && !c.Origin.IsSet() {
			r.add(c.Name.At, "add `origin: 2024-01-01`", "the dates of %s need a day to count from", c.Name.V)
		}
		r.checkLevels(c)
	})
}

// loadTables reads the public tables and matches their rows with the levels of
// their keys.
func (r *reader) loadTables(d *Data, load Loader) {
	for _, t := range d.Tables {
		if !t.File.IsSet() || !t.Key.IsSet() || !t.Public.V {
			continue
		}
		key := d.Column(t.Key.V)
		if key == nil || key.Numeric() {
			r.add(t.Key.At, suggest(t.Key.V, "columns", d.columnNames()), "the key %s of table %s is no category of the data", t.Key.V, t.Name.V)
			continue
		}
		rows, header, err := readCSV(t.File.V, load)
		if err != nil {
			r.add(t.File.At, "", "cannot read table %s: %v", t.Name.V, err)
			continue
		}
		if order := r.rowsOf(t, key, rows, header); order != nil {
			for _, c := range t.Columns {
				r.cells(t, c, order, header)
			}
		}
	}
}

// rowsOf returns the table's rows in the order of the key's levels, or nil
// after a mistake.
func (r *reader) rowsOf(t *Table, key *Column, rows [][]string, header []string) [][]string {
	at := slices.Index(header, t.Key.V)
	if at < 0 {
		r.add(t.Key.At, suggest(t.Key.V, "columns", header), "%s has no column %s", t.File.V, t.Key.V)
		return nil
	}
	order := make([][]string, len(key.Levels))
	for _, row := range rows {
		if l := key.Level(row[at]); l >= 0 {
			if order[l] != nil {
				r.add(t.File.At, "", "level %s has two rows in %s", row[at], t.File.V)
				return nil
			}
			order[l] = row
		}
	}
	for l, row := range order {
		if row == nil {
			r.add(t.File.At, "", "level %s of %s has no row in %s", key.Levels[l].V, t.Key.V, t.File.V)
			return nil
		}
	}
	return order
}

// cells reads one column of a table.
func (r *reader) cells(t *Table, c *Column, rows [][]string, header []string) {
	at := slices.Index(header, c.HeaderName())
	if at < 0 {
		r.add(c.Name.At, suggest(c.HeaderName(), "columns", header), "%s has no column %s", t.File.V, c.HeaderName())
		return
	}
	values := make([]float64, len(rows))
	for i, row := range rows {
		v := float64(c.Level(row[at]))
		if c.Numeric() {
			v = (c.Transformed(c.Number(row[at])) - c.Center.V) / c.By.Or(1)
		}
		if math.IsNaN(v) || v < 0 && !c.Numeric() {
			r.add(c.Name.At, "", "%s holds a value of %s that is no %s", t.File.V, c.Name.V, c.Type.V)
			return
		}
		values[i] = v
	}
	t.values[c.Name.V] = values
}
