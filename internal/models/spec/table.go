package spec

// Table declares a public table with one row per level of a category: what is
// known about hospitals, schools or districts without looking at the records.
type Table struct {
	Name    Value[string]
	File    Value[string]
	Public  Value[bool]
	Key     Value[string] // the column that the category's levels stand in
	Columns []*Column
}

// tables reads `tables:`.
func (r *reader) tables(e entry) []*Table {
	list, ok := r.entries(e.node, "tables")
	if !ok {
		return nil
	}
	var tables []*Table
	for _, e := range list {
		t := &Table{Name: Value[string]{e.key, e.at}}
		tables = append(tables, t)
		if e.node == nil {
			continue
		}
		keys := r.object(e.node, "table "+e.key, fields{
			"file":    func(e entry) { t.File = r.text(e) },
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
	list, ok := r.entries(e.node, "columns")
	if !ok {
		return nil
	}
	var columns []*Column
	for _, e := range list {
		c := &Column{Name: Value[string]{e.key, e.at}}
		columns = append(columns, c)
		if e.node == nil {
			continue
		}
		if keys := r.column(e, c); keys != nil && !keys["type"] {
			r.add(e.at, "", "column %s has no type", e.key)
		}
	}
	return columns
}
