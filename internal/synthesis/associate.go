package synthesis

import (
	"slices"

	"d3p/internal/marginals"
)

// associate finds the associations of numbers, at the given counts of columns.
func (d *Drawer) associate(domain marginals.Domain, columns [][]float64) {
	ordered := make([]int, len(domain))
	for k := range ordered {
		ordered[k] = d.table.Columns[k].ordered()
	}
	d.associations = domain.Associations(d.measured, columns, ordered, zerosOf(d.rules))
}

// Each of the fits moves columns less. sure is the variance of counts on which all tables must
// agree, and loose the weight of what moves a column away from them.
const (
	fits  = 2
	sure  = 1e-3
	loose = 0.2
)

// fit fits the tree to measurements, and to the associations that these show, at the given
// counts of columns. Noise leaves records in rare bins, which Rake takes away: a correlation that
// is right before that is too low after it. Rules may contradict the counts of their columns:
// there the measurements remain.
func (d *Drawer) fit(m []marginals.Measurement, columns [][]float64, iterations int) {
	m = slices.Clone(m)
	for k, counts := range columns { // the first tables are those of columns
		if !d.ruled(k) {
			m[k].Counts, m[k].Variance, m[k].Trust = counts, sure, sure/loose
			m[k].Centre = slices.Clone(d.tree.Theta[k])
		}
	}
	clean := marginals.Reconcile(d.tree.Domain, m, marginals.Records(m))
	var slopes []marginals.Measurement
	for i := range d.associations {
		slopes = append(slopes, d.associations[i].Estimate(clean, columns, !d.inference))
	}
	d.tree.Estimate(m, iterations, slopes...)
	d.tree.Rake(columns)
}

// ruled reports whether rules empty cells of a column.
func (d *Drawer) ruled(column int) bool {
	return slices.ContainsFunc(d.rules, func(r rule) bool {
		return slices.Contains(r.Set, column) && slices.Contains(r.Empty, true)
	})
}
