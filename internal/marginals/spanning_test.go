package marginals

import "testing"

// BenchmarkSpanningTree fits a tree to noisy counts of 15 columns with Adult's numbers of cells and
// of 14 pairs that span them, and draws 32,561 records.
func BenchmarkSpanningTree(b *testing.B) {
	const n = 32561
	d := Domain{23, 9, 22, 17, 17, 8, 15, 7, 6, 3, 16, 9, 27, 42, 3}
	x := classes(d, n, 0.4, 33)
	m := &meter{d: d, x: x, perCell: random(34).Normal}
	tables := Tables(singles(d)...)
	for k := 1; k < len(d); k++ {
		tables = append(tables, Table{Set: NewSet(k, (k-1)/2)})
	}
	sigma := make([]float64, len(tables))
	for i := range sigma {
		sigma[i] = 20
	}
	counts, _ := m.measure(tables, sigma)
	var measured []Measurement
	for i, t := range tables {
		measured = append(measured, Measurement{Table: t, Counts: counts[i], Variance: 400, Trust: n / 30})
	}
	for b.Loop() {
		tree, err := NewTree(d, tables, nil, 1<<20, 1)
		if err != nil {
			b.Fatal(err)
		}
		tree.Start(measured)
		tree.Estimate(measured, 400)
		tree.Sample(n, random(35), false)
		tree.Close()
	}
}
