package marginals

import "math"

// leastLevel is the smallest count of a level, or of a cell of two columns without order,
// for which trends are kept; in units of the noise of its sum.
const leastLevel = 4

// Trends are orthonormal tables along which a fit need not shrink the family's parameters:
// the product of two ordered columns, an ordered column within each level of another, and
// cells of two columns without order. A trend is a sum over many cells, or a cell with many
// records. It stands above noise that hides single cells, and regression coefficients
// follow from it. Scores are the values of cells by column; nil: no order; NaN: a cell
// outside the order. Only frequent levels and cells have trends.
func (d Domain) Trends(m Measurement, scores [][]float64) [][]float64 {
	if len(m.Set) < 2 {
		return nil
	}
	n := 0.0
	for _, y := range m.Counts {
		n += y
	}
	// A trend is a product of factors of the columns. share is the share of its records.
	type trend struct {
		table []float64
		share float64
	}
	trends, ordered := []trend{{[]float64{1}, 1}}, false
	d.margins(&m, func(i int, of Domain, margin []float64, repeats float64) {
		k := m.Set[i]
		var factors []trend
		if s := m.grouped(scores[k], i, of[k]); s != nil {
			ordered = true
			factors = append(factors, trend{line(s), 1})
		} else {
			for c, y := range margin {
				if y >= leastLevel*math.Sqrt(m.Variance*repeats) {
					one := make([]float64, len(margin))
					one[c] = 1
					factors = append(factors, trend{one, y / n})
				}
			}
		}
		var longer []trend
		for _, t := range trends {
			for _, f := range factors {
				q := make([]float64, 0, len(t.table)*of[k])
				for _, a := range t.table {
					for _, b := range f.table {
						q = append(q, a*b)
					}
				}
				longer = append(longer, trend{q, t.share * f.share})
			}
		}
		trends = longer
	})
	var list [][]float64
	for _, t := range trends {
		if ordered || n*t.share >= leastLevel*math.Sqrt(m.Variance) {
			list = append(list, t.table)
		}
	}
	return list
}

// grouped are the scores of the groups of the set's i-th column: the means over their
// cells.
func (t Table) grouped(scores []float64, i, cells int) []float64 {
	if scores == nil || t.Groups == nil || t.Groups[i] == nil {
		return scores
	}
	sums, counts := make([]float64, cells), make([]float64, cells)
	for c, g := range t.Groups[i] {
		sums[g] += scores[c]
		counts[g]++
	}
	for g := range sums {
		sums[g] /= counts[g]
	}
	return sums
}

// line is the straight line in the scores, with mean 0 and length 1, or 0 if all scores
// are equal.
func line(scores []float64) []float64 {
	n, sum := 0.0, 0.0
	for _, s := range scores {
		if !math.IsNaN(s) {
			n++
			sum += s
		}
	}
	slope, squares := make([]float64, len(scores)), 0.0
	for c, s := range scores {
		if !math.IsNaN(s) {
			slope[c] = s - sum/n
			squares += slope[c] * slope[c]
		}
	}
	for c := range slope {
		slope[c] /= math.Sqrt(max(squares, math.SmallestNonzeroFloat64))
	}
	return slope
}
