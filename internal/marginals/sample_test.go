package marginals

import (
	"math"
	"testing"
)

// The sampled counts of the joint table and of the sets' are the expected ones to within the
// rounding of cells, and no record has a zero.
func TestSampleFollowsTheFamily(t *testing.T) {
	r := random(6)
	for i, p := range problems(r) {
		tree, err := NewTree(p.domain, Tables(p.sets...), p.zeros, 1<<20, 1)
		if err != nil {
			t.Fatal(err)
		}
		draw(tree, r)
		tree.Infer()
		const n = 200000
		for _, independent := range []bool{false, true} {
			records := tree.Sample(n, r, independent)
			_, joint := brute(p.domain, p.sets, tree.Theta, p.zeros)
			sets, means := append([]Set{Set{0, 1, 2, 3, 4, 5}[:len(p.domain)]}, p.sets...), append([][]float64{joint}, tree.Means...)
			for j, s := range sets {
				got := make([]float64, p.domain.Cells(s))
				p.domain.Count(got, Table{Set: s}, records)
				chi2, cells := 0.0, 0
				add := func(got, expected float64) {
					chi2 += (got - expected) * (got - expected) / expected
					cells++
				}
				fewGot, fewExpected := 0.0, 0.0 // of all cells with few records, whose terms have heavy tails
				for c, m := range means[j] {
					if m == 0 && got[c] > 0 {
						t.Errorf("problem %d, set %v: records in a cell of probability 0", i, s)
					}
					if n*m >= 20 {
						add(got[c], n*m)
					} else {
						fewGot, fewExpected = fewGot+got[c], fewExpected+n*m
					}
				}
				if fewExpected >= 5 {
					add(fewGot, fewExpected)
				}
				// P(chi2 > cells + 8 sqrt(2 cells) + 20) < 1e-7 for independent
				// records; systematic ones vary less.
				if most := float64(cells) + 8*math.Sqrt(2*float64(cells)) + 20; chi2 > most {
					t.Errorf("problem %d, set %v, independent %v: chi-squared %g of %d cells", i, s, independent, chi2, cells)
				}
			}
			for _, z := range p.zeros {
				got := make([]float64, p.domain.Cells(z.Set))
				p.domain.Count(got, Table{Set: z.Set}, records)
				for c, empty := range z.Empty {
					if empty && got[c] > 0 {
						t.Errorf("problem %d: %g records in the zero %d of %v", i, got[c], c, z.Set)
					}
				}
			}
		}
		tree.Close()
	}
}

// Counts of the first clique's cells are the expected ones rounded up or down.
func TestSampleRoundsExpectedCounts(t *testing.T) {
	tree, err := NewTree(Domain{5, 7}, Tables(Set{0, 1}), nil, 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	r := random(7)
	draw(tree, r)
	tree.Infer()
	got := make([]float64, 35)
	tree.Domain.Count(got, Table{Set: Set{0, 1}}, tree.Sample(1000, r, false))
	for c, m := range tree.Means[0] {
		if math.Abs(got[c]-1000*m) >= 1 {
			t.Errorf("cell %d: %g records, expected %g", c, got[c], 1000*m)
		}
	}
}
