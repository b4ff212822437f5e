package marginals

import (
	"math"
	"testing"

	"d3p/internal/privacy/noise"
	"d3p/internal/simd"
)

// normalPair has the counts of n records of two normal columns with correlation r in cells of equal
// width, a bin beyond the order for a part of them, and noisy tables: all cells, and groups of two.
func normalPair(n, r, sigma float64, random *noise.Random) (d Domain, columns [][]float64, m []Measurement, truth float64) {
	const cells = 20
	d = Domain{cells + 1, cells}
	table := make([]float64, (cells+1)*cells)
	at := func(i int) float64 { return -3 + 6*(float64(i)+0.5)/cells }
	for i := range cells {
		for j := range cells {
			x, y := at(i), at(j)
			table[i*cells+j] = math.Exp(-(x*x - 2*r*x*y + y*y) / (2 * (1 - r*r)))
		}
	}
	simd.MulScalar(table, table, 0.9*n/simd.Sum(table))
	for j := range cells { // missing in the first column
		for i := range cells {
			table[cells*cells+j] += table[i*cells+j] / 9
		}
	}
	columns = [][]float64{make([]float64, cells+1), make([]float64, cells)}
	groups := [][]int32{nil, make([]int32, cells)}
	for c, y := range table {
		columns[0][c/cells] += y
		columns[1][c%cells] += y
		groups[1][c%cells] = int32(c % cells / 2)
	}
	u, v := ranked(columns[0], cells), ranked(columns[1], cells)
	for c, y := range table {
		truth += y * u[c/cells] * v[c%cells]
	}
	for _, t := range []Table{{Set: Set{0, 1}}, {Set: Set{0, 1}, Groups: groups}} {
		counts := make([]float64, d.Size(t))
		for c, g := range d.grouped(t) {
			counts[g] += table[c]
		}
		for c := range counts {
			counts[c] += sigma * random.Normal()
		}
		m = append(m, Measurement{Table: t, Counts: counts, Variance: sigma * sigma, Trust: 1})
	}
	return d, columns, m, truth
}

// The sum of scores of a normal pair is found behind noise that hides single cells.
func TestAssociationBehindNoise(t *testing.T) {
	const n, sigma, repetitions = 3000.0, 10.0, 40
	source := random(7)
	for _, r := range []float64{-0.9, 0.65} {
		bias, squares, want := 0.0, 0.0, 0.0
		for range repetitions {
			d, columns, m, truth := normalPair(n, r, sigma, source)
			list := d.Associations(m, columns, []int{20, 20}, nil)
			if len(list) != 1 || len(list[0].tables) != 2 {
				t.Fatalf("%d associations", len(list))
			}
			got := list[0].Estimate(m, columns, false)
			e := got.Counts[0] - truth
			bias += e / repetitions
			squares += e * e / repetitions
			want = truth
		}
		if error := math.Sqrt(squares); math.Abs(bias) > 0.03*math.Abs(want) || error > 0.2*math.Abs(want) {
			t.Errorf("correlation %g: of the sum %.0f the error is %.0f, the bias %.0f", r, want, error, bias)
		}
	}
}

// Noise alone is no association of a single table.
func TestAssociationOfNoise(t *testing.T) {
	source := random(8)
	for range 20 {
		d, columns, m, _ := normalPair(3000, 0, 10, source)
		got := d.Associations(m, columns, []int{20, 20}, nil)[0].Estimate(m, columns, true)
		if got.Counts[0] != 0 { // P(|z| > 3) is .0027, and the seed is fixed
			t.Errorf("noise has the sum %.0f", got.Counts[0])
		}
	}
}

// A tree with an association has its sum, and the groups of cells are not flat.
func TestTreeFollowsAnAssociation(t *testing.T) {
	const n = 1e5
	d, columns, m, truth := normalPair(n, 0.65, 1, random(9))
	a := d.Associations(m, columns, []int{20, 20}, nil)[0]
	slope := a.Estimate(m, columns, true)
	groups := make([]int32, 20)
	for c := range groups {
		groups[c] = int32(c / 10)
	}
	halves := Measurement{Table: Table{Set: Set{0, 1}, Groups: [][]int32{append(groups[:20:20], 2), groups}}, Variance: 100, Trust: n / 30}
	halves.Counts = make([]float64, d.Size(halves.Table))
	for c, g := range d.grouped(halves.Table) {
		halves.Counts[g] += m[0].Counts[c]
	}
	list := []Measurement{{Table: Table{Set: Set{0}}, Counts: columns[0], Variance: 1, Trust: 1}, {Table: Table{Set: Set{1}}, Counts: columns[1], Variance: 1, Trust: 1}, halves}
	tree, err := NewTree(d, []Table{list[0].Table, list[1].Table, halves.Table, a.Table}, nil, 1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	tree.Estimate(list, 500, slope)
	if got := n * tree.Means[3][0]; math.Abs(got-truth) > 0.01*truth {
		t.Errorf("the sum of scores is %.0f, want %.0f", got, truth)
	}
	if kappa := tree.Theta[3][0]; kappa < 0.5 {
		t.Errorf("κ is %.2f", kappa)
	}
}
