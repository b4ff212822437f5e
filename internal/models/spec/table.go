package spec

import (
	"math"
	"slices"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
	"d3p/internal/spell"
)

// tables reads `tables:`.
func (r *reader) tables(e entry) []*data.Table {
	list, ok := r.entries(e.node, "tables")
	if !ok {
		return nil
	}
	var tables []*data.Table
	for _, e := range list {
		t := &data.Table{Name: source.Value[string]{V: e.key, At: e.at}, Values: make(map[string][]float64)}
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
			r.Add(t.Name.At, "", "table %s needs a file and a key", e.key)
		}
		if keys != nil && !t.Public.V {
			r.Add(t.Name.At, "write `public: true` when it is", "table %s is not declared public: a private table cannot be read in the clear", e.key)
		}
	}
	return tables
}

// tableColumns reads the columns of a public table: as its numbers are public,
// they need no bounds.
func (r *reader) tableColumns(e entry) []*data.Column {
	return r.declarations(e, func(c *data.Column, keys present) {
		if keys == nil {
			return
		}
		if !keys["type"] {
			r.Add(c.Name.At, "", "column %s has no type", c.Name.V)
		}
		if c.Type.V == data.Date && !c.Origin.IsSet() {
			r.Add(c.Name.At, "add `origin: 2024-01-01`", "the dates of %s need a day to count from", c.Name.V)
		}
		if at := c.ConstantWithin.At; at.Line > 0 {
			r.Add(at, "leave it out", "a public table has one row per level anyway")
		}
		r.checkLevels(c)
	})
}

// loadTables reads the public tables and matches their rows with the levels of
// their keys.
func (r *reader) loadTables(d *data.Data, load Loader) {
	for _, t := range d.Tables {
		if !t.File.IsSet() || !t.Key.IsSet() || !t.Public.V {
			continue
		}
		key := d.Column(t.Key.V)
		if key == nil || key.Numeric() {
			r.Add(t.Key.At, spell.Suggest(t.Key.V, "columns", d.ColumnNames()), "the key %s of table %s is no category of the data", t.Key.V, t.Name.V)
			continue
		}
		rows, header, err := readCSV(t.File.V, load)
		if err != nil {
			r.Add(t.File.At, "", "cannot read table %s: %v", t.Name.V, err)
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
func (r *reader) rowsOf(t *data.Table, key *data.Column, rows [][]string, header []string) [][]string {
	at := slices.Index(header, t.Key.V)
	if at < 0 {
		r.Add(t.Key.At, spell.Suggest(t.Key.V, "columns", header), "%s has no column %s", t.File.V, t.Key.V)
		return nil
	}
	order := make([][]string, len(key.Levels))
	for _, row := range rows {
		if l := key.Level(row[at]); l >= 0 {
			if order[l] != nil {
				r.Add(t.File.At, "", "level %s has two rows in %s", row[at], t.File.V)
				return nil
			}
			order[l] = row
		}
	}
	for l, row := range order {
		if row == nil {
			r.Add(t.File.At, "", "level %s of %s has no row in %s", key.Levels[l].V, t.Key.V, t.File.V)
			return nil
		}
	}
	return order
}

// cells reads one column of a table.
func (r *reader) cells(t *data.Table, c *data.Column, rows [][]string, header []string) {
	at := slices.Index(header, c.HeaderName())
	if at < 0 {
		r.Add(c.Name.At, spell.Suggest(c.HeaderName(), "columns", header), "%s has no column %s", t.File.V, c.HeaderName())
		return
	}
	values := make([]float64, len(rows))
	for i, row := range rows {
		v := float64(c.Level(row[at]))
		if c.Numeric() {
			v = (c.Transformed(c.Number(row[at])) - c.Center.V) / c.By.Or(1)
		}
		if math.IsNaN(v) || v < 0 && !c.Numeric() {
			r.Add(c.Name.At, "", "%s holds a value of %s that is no %s", t.File.V, c.Name.V, c.Type.V)
			return
		}
		values[i] = v
	}
	t.Values[c.Name.V] = values
}
