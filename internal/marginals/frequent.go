package marginals

import "math"

// leastLevel is the smallest count of a level, or of a cell, that is frequent; in units of the
// noise of its sum.
const leastLevel = 4

// Frequent reports, by cell of a table, which cells stand above the noise: those of frequent
// levels of each column that have many records themselves. A fit need not shrink their
// parameters.
func (d Domain) Frequent(m Measurement) []bool {
	list := make([]bool, len(m.Counts))
	for c, y := range m.Counts {
		list[c] = y >= leastLevel*math.Sqrt(m.Variance)
	}
	d.margins(&m, func(i int, of Domain, margin []float64, repeats float64) {
		inner := 1
		for _, k := range m.Set[i+1:] {
			inner *= of[k]
		}
		for c := range list {
			list[c] = list[c] && margin[c/inner%len(margin)] >= leastLevel*math.Sqrt(m.Variance*repeats)
		}
	})
	return list
}
