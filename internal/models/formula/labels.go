package formula

import (
	"slices"

	"d3p/internal/models/data"
)

// labelsOf expands terms into coefficient labels in the order of the formula. Categories
// are coded against their reference level, with two exceptions, as in R. Without an
// intercept the first term that is a single category has a coefficient per level. So has a
// category in a product whose other factors are no term.
func labelsOf(d *data.Data, intercept bool, terms []Term) []string {
	var labels []string
	full := !intercept
	for _, t := range terms {
		products := []string{""}
		for _, name := range t.Columns {
			c := d.Column(name)
			category := c.Type.V == data.Category || c.Type.V == data.Ordinal
			factors := c.Factors(category && (full && len(t.Columns) == 1 || len(t.Columns) > 1 && !t.marginIn(terms, name)))
			if len(t.Columns) == 1 {
				full = full && !category
				if c.Missing.Indicator.V {
					factors = append(factors, data.Factor{Column: c, Level: -1, Missing: true})
				}
			}
			products = cross(products, factors)
		}
		labels = append(labels, products...)
	}
	return labels
}

// marginIn reports whether the product without one of its columns is among the terms.
func (t Term) marginIn(terms []Term, without string) bool {
	margin := Term{Columns: slices.DeleteFunc(slices.Clone(t.Columns), func(c string) bool { return c == without })}
	return slices.ContainsFunc(terms, margin.equal)
}

// cross appends every factor to every product; the last factor varies slowest.
func cross(products []string, factors []data.Factor) []string {
	var out []string
	for _, f := range factors {
		for _, p := range products {
			if p != "" {
				p += ":"
			}
			out = append(out, p+f.Label())
		}
	}
	return out
}
