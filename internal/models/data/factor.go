package data

import (
	"iter"
	"slices"
	"strings"
)

// Factor is one factor of a coefficient's label: a column as a number, the 0/1
// indicator of one of its levels, or the indicator of its missing values.
type Factor struct {
	Column  *Column
	Level   int // of a category; -1 for the column itself
	Missing bool
}

// Label returns age, sex=male or bmi_missing.
func (f Factor) Label() string {
	switch {
	case f.Missing:
		return f.Column.Name.V + IndicatorSuffix
	case f.Level >= 0:
		return f.Column.Name.V + "=" + f.Column.Levels[f.Level].V
	}
	return f.Column.Name.V
}

// Factors returns the factors that a column contributes to a term: itself for
// a number or a binary column, one per level but the reference for a category
// (all levels with full).
func (c *Column) Factors(full bool) []Factor {
	if c.Type.V != Category && c.Type.V != Ordinal {
		return []Factor{{Column: c, Level: -1}}
	}
	var list []Factor
	for l := range c.Levels {
		if full || l != c.ReferenceLevel() {
			list = append(list, Factor{Column: c, Level: l})
		}
	}
	return list
}

// Effects lists the levels of a category but its reference.
func (c *Column) Effects() []string {
	var labels []string
	for l, v := range c.Levels {
		if l != c.ReferenceLevel() {
			labels = append(labels, v.V)
		}
	}
	return labels
}

// all are the declared columns, then the derived ones.
func (d *Data) all() iter.Seq[*Column] {
	return func(yield func(*Column) bool) {
		for _, list := range [2][]*Column{d.Columns, d.Derived} {
			for _, c := range list {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// Factors reads a coefficient's label, factors joined by colons; it returns
// false when the label names no declared columns and levels.
func (d *Data) Factors(label string) ([]Factor, bool) {
	if label == "" {
		return nil, false
	}
	for c := range d.all() {
		rest, ok := strings.CutPrefix(label, c.Name.V)
		if !ok {
			continue
		}
		candidates := []Factor{{Column: c, Level: -1}}
		if c.Missing.Indicator.V {
			candidates = append(candidates, Factor{Column: c, Level: -1, Missing: true})
		}
		if strings.HasPrefix(rest, "=") && !c.Numeric() {
			candidates = candidates[:0]
			for l := range c.Levels {
				candidates = append(candidates, Factor{Column: c, Level: l})
			}
		}
		for _, f := range candidates {
			rest, ok := strings.CutPrefix(label, f.Label())
			if ok && rest == "" {
				return []Factor{f}, true
			}
			if more, ok2 := strings.CutPrefix(rest, ":"); ok && ok2 {
				if others, ok := d.Factors(more); ok {
					return slices.Concat([]Factor{f}, others), true
				}
			}
		}
	}
	return nil, false
}
