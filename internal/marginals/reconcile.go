package marginals

// Records estimates the number of records: the average of the tables' sums,
// weighted by their precision; at least 1.
func Records(m []Measurement) float64 {
	sum, weight := 0.0, 0.0
	for _, t := range m {
		w := 1 / (t.Variance * float64(len(t.Counts)))
		weight += w
		for _, y := range t.Counts {
			sum += w * y
		}
	}
	return max(1, sum/weight)
}

// Reconcile returns the measurements with counts whose sums agree: each table's
// sum is n, and each column's sums are those of all tables averaged by their
// precision. It moves every table by the least squares that reach that sum.
func Reconcile(d Domain, m []Measurement, n float64) []Measurement {
	sums, weights := make([][]float64, len(d)), make([]float64, len(d))
	for k := range d {
		sums[k] = make([]float64, d[k])
	}
	each := func(t *Measurement, f func(k int, margin []float64, repeats float64)) {
		for _, k := range t.Set {
			margin := make([]float64, d[k])
			d.Project(margin, t.Counts, t.Set, Set{k})
			f(k, margin, float64(len(t.Counts)/d[k]))
		}
	}
	for i := range m {
		each(&m[i], func(k int, margin []float64, repeats float64) {
			w := 1 / (m[i].Variance * repeats)
			weights[k] += w
			for c, y := range margin {
				sums[k][c] += w * y
			}
		})
	}
	for k := range d {
		total := 0.0
		for c := range sums[k] {
			if weights[k] > 0 {
				sums[k][c] /= weights[k]
			}
			total += sums[k][c]
		}
		for c := range sums[k] {
			sums[k][c] += (n - total) / float64(d[k])
		}
	}
	out := make([]Measurement, len(m))
	for i, t := range m {
		out[i] = t
		out[i].Counts = make([]float64, len(t.Counts))
		total := 0.0
		for _, y := range t.Counts {
			total += y
		}
		for c, y := range t.Counts {
			out[i].Counts[c] = y + (n-total)/float64(len(t.Counts))
		}
		each(&out[i], func(k int, margin []float64, repeats float64) {
			for c := range margin {
				margin[c] = (sums[k][c] - margin[c]) / repeats
			}
			d.spread(out[i].Counts, out[i].Set, k, margin)
		})
	}
	return out
}

// spread adds each value of a table over column k to all its cells in the table
// over s.
func (d Domain) spread(table []float64, s Set, k int, values []float64) {
	inner := 1
	for i := len(s) - 1; s[i] != k; i-- {
		inner *= d[s[i]]
	}
	for c := range table {
		table[c] += values[c/inner%d[k]]
	}
}
