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

// Reconcile returns the measurements with counts whose sums agree. Each table's sum becomes
// n, and each column's sums become the mean over all tables, weighted by precision. It
// changes every table by the least squares that reach these sums.
func Reconcile(d Domain, m []Measurement, n float64) []Measurement {
	sums, _ := d.Columns(m, n)
	out := make([]Measurement, len(m))
	for j, t := range m {
		out[j] = t
		out[j].Counts = make([]float64, len(t.Counts))
		total := 0.0
		for _, y := range t.Counts {
			total += y
		}
		for c, y := range t.Counts {
			out[j].Counts[c] = y + (n-total)/float64(len(t.Counts))
		}
		d.margins(&out[j], func(i int, of Domain, margin []float64, repeats float64) {
			k := t.Set[i]
			for c := range margin {
				margin[c] = -margin[c]
			}
			for c, y := range sums[k] {
				if of[k] != d[k] {
					c = int(t.Groups[i][c])
				}
				margin[c] += y
			}
			for c := range margin {
				margin[c] /= repeats
			}
			of.spread(out[j].Counts, t.Set, k, margin)
		})
	}
	return out
}

// Columns are the counts of each single column on which the tables with all its levels
// agree, with the total n, and the precision of each count. Counts of rare cells can be
// negative.
func (d Domain) Columns(m []Measurement, n float64) (sums [][]float64, weights []float64) {
	sums, weights = make([][]float64, len(d)), make([]float64, len(d))
	for k := range d {
		sums[k] = make([]float64, d[k])
	}
	for j := range m {
		d.margins(&m[j], func(i int, of Domain, margin []float64, repeats float64) {
			k := m[j].Set[i]
			if of[k] != d[k] {
				return
			}
			w := 1 / (m[j].Variance * repeats)
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
	return sums, weights
}

// margins calls f for every column of a table, by its index in the set, with the table's
// counts of that column and the number of cells in each count.
func (d Domain) margins(t *Measurement, f func(i int, of Domain, margin []float64, repeats float64)) {
	of := d.of(t.Table)
	for i, k := range t.Set {
		margin := make([]float64, of[k])
		of.Project(margin, t.Counts, t.Set, Set{k})
		f(i, of, margin, float64(len(t.Counts)/of[k]))
	}
}

// spread adds each value of a table over column k to all its cells in the table over s.
func (d Domain) spread(table []float64, s Set, k int, values []float64) {
	inner := 1
	for i := len(s) - 1; s[i] != k; i-- {
		inner *= d[s[i]]
	}
	for c := range table {
		table[c] += values[c/inner%d[k]]
	}
}

// free is the part of a table's noise that Reconcile leaves, where sums of columns are known
// much better than the table's.
func (d Domain) free(t Table) float64 {
	of, sums := d.of(t), 1
	for _, k := range t.Set {
		sums += of[k] - 1
	}
	return 1 - float64(sums)/float64(of.Cells(t.Set))
}
