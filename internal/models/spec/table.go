package spec

import (
	"math"
	"slices"

	"d3p/internal/models/data"
	"d3p/internal/spell"
)

// readTable reads the declaration of one public table.
func readTable(r *reader, e entry) (*data.Table, bool) {
	t := &data.Table{Name: e.name(), Values: make(map[string][]float64)}
	keys := r.object(e, "table "+e.key, tableFields(t))
	if t.File.IsSet() {
		t.File.V = r.relative(t.File.V)
	}
	if keys != nil && (!keys["file"] || !keys["key"]) {
		r.Add(t.Name.At, "", "table %s needs a file and a key", e.key)
	}
	if keys != nil && !t.Public.V {
		r.Add(t.Name.At, "write `public: true` when it is", "table %s is not declared public: a private table cannot be read in the clear", e.key)
	}
	return t, true
}

// tableFields are the keys of a public table; its rows stay in their file.
func tableFields(t *data.Table) []field {
	return []field{
		text("file", &t.File).means("a CSV file, by its path from the model file"),
		boolean("public", &t.Public).means("true: the custodian states that the table is public"),
		text("key", &t.Key).means("the category of the records whose levels its rows are"),
		declared("columns", &t.Columns, readTableColumn, func(p *printer, c *data.Column) { p.line(c.Name.V, flow(tableColumnFields(c))) }).means("its columns, declared like those of the records, without bounds"),
	}
}

// readTableColumn reads a column of a public table: as its numbers are public, it needs
// no bounds.
func readTableColumn(r *reader, e entry) (*data.Column, bool) {
	c := &data.Column{Name: e.name()}
	keys := r.object(e, "column "+e.key, append(tableColumnFields(c), unused(columnFields(&data.Data{}, &data.Column{}), tableColumnFields(c))...))
	if keys == nil {
		return c, true
	}
	r.checkDates(c)
	if !keys["type"] {
		r.Add(c.Name.At, "", "column %s has no type", c.Name.V)
	}
	if c.Type.V == data.Date && !c.Origin.IsSet() {
		r.Add(c.Name.At, "add `origin: 2024-01-01`", "the dates of %s need a day to count from", c.Name.V)
	}
	if c.Numeric() {
		r.refuse(c, "levels", firstAt(c.Levels))
	} else {
		r.refuse(c, "scale or transform", c.Transform.At, c.Center.At, c.By.At)
	}
	if c.Spelled != nil {
		r.Add(c.Levels[0].At, "list the levels as the table spells them", "a public table has one spelling of a level")
		return c, true
	}
	if c.BuysLevels() {
		r.Add(c.Prices.Levels.At, "list them", "a public table buys no levels")
		return c, true
	}
	r.checkLevels(c)
	return c, true
}

// noUse is the meaning of a key that only a column of the data has a use for.
const noUse = "has no use in a public table"

// unused are the fields that only columns of the data need. A public table may have them,
// with a note.
func unused(of, used []field) (list []field) {
	for _, f := range of {
		if slices.Contains(keysOf(used), f.key) {
			continue
		}
		list = append(list, field{key: f.key, meaning: noUse, read: func(r *reader, e entry) {
			f.read(r, e)
			r.spec.Warnings.Add(e.at, "remove it", "%s %s", e.key, noUse)
		}})
	}
	return list
}

// tableColumnFields are the keys of a column of a public table.
func tableColumnFields(c *data.Column) []field {
	numeric := c.Numeric()
	return []field{
		choice("type", &c.Type, data.ColumnTypes...).means("the kind of value"),
		text("header", &c.Header).means("the column's name in the file, if that is not a plain name"),
		origin(c).means("the day from which dates count"),
		scale(c).as(func() string { return scaleText(c.Center.V, c.By.Or(1)) }).means("the unit of coefficients").when(numeric),
		levels(c).means("of a binary column, a category or an ordinal column").when(!numeric),
		choice("transform", &c.Transform, data.TransformNames()...).means("of a number"),
		text("source", &c.Source).means("where the table comes from"),
	}
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
		if key.BuysLevels() {
			r.Add(t.Key.At, "the table lists the levels: write `levels_from: "+t.File.V+"#"+t.Key.V+"`", "the key %s of table %s has bought levels", t.Key.V, t.Name.V)
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
