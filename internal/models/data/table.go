package data

import (
	"slices"

	"d3p/internal/models/source"
)

// Table declares a public table with one row per level of a category: public facts about
// hospitals, schools or districts.
type Table struct {
	Name    source.Value[string]
	File    source.Value[string]
	Public  source.Value[bool]
	Key     source.Value[string] // the category column; its levels stand in the table's column of that name
	Columns []*Column
	// values are the cells of each column by level of the key: numbers on their
	// scale, or indices of levels.
	Values map[string][]float64
}

// Vector returns, by level of the key, the value of a label: a number on its scale, or for
// label=level 1 at levels with that value and 0 at others.
func (t *Table) Vector(label string) ([]float64, bool) {
	for _, c := range t.Columns {
		for _, f := range append(c.Factors(true), Factor{Column: c, Level: -1}) {
			if f.Label() != label || f.Level < 0 && !c.Numeric() && c.Type.V != Binary {
				continue
			}
			v := slices.Clone(t.Values[c.Name.V])
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
