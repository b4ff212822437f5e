package marginals

import (
	"math"
	"testing"
)

// Thinned records are some of the records, and their pairs are much closer to the family's
// than those of as many records drawn by themselves; with triples, those are closer, too.
func TestThinKeepsTables(t *testing.T) {
	const n, spare = 2000, 10
	r := random(8)
	d := Domain{4, 3, 5, 6, 4}
	tree, err := NewTree(d, Tables(Set{0, 1}, Set{1, 2}, Set{2, 3}, Set{3, 4}), nil, 1<<20, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for i := range tree.theta {
		tree.theta[i] = r.Normal()
	}
	tree.Infer()
	var pairs, triples []Set
	for j := range d {
		for k := range j {
			pairs = append(pairs, Set{k, j})
			for i := range k {
				triples = append(triples, Set{i, k, j})
			}
		}
	}
	counted := func(records [][]int32, s Set) []float64 {
		counts := make([]float64, d.Cells(s))
		d.Count(counts, Table{Set: s}, records)
		return counts
	}
	many := tree.Sample(100*n, r, false)
	distance := func(records [][]int32, sets []Set) (sum float64) {
		for _, s := range sets {
			want := counted(many, s)
			for c, y := range counted(records, s) {
				sum += math.Abs(y-want[c]/100) / (2 * n * float64(len(sets)))
			}
		}
		return sum
	}
	all := Set{0, 1, 2, 3, 4}
	records := tree.Sample(spare*n, r, false)
	before := counted(records, all)
	thinned := d.Thin(records, n, pairs, r)
	if len(thinned[0]) != n {
		t.Fatalf("%d records, want %d", len(thinned[0]), n)
	}
	for c, y := range counted(thinned, all) {
		if y > before[c] {
			t.Fatalf("cell %d has %g records of %g", c, y, before[c])
		}
	}
	drawn, got := distance(tree.Sample(n, r, false), pairs), distance(thinned, pairs)
	if got > drawn/2 {
		t.Errorf("pairs of thinned records have the distance %.4f, of drawn ones %.4f", got, drawn)
	}
	three := d.Thin(records, n, append(pairs, triples...), r)
	if got, without := distance(three, triples), distance(thinned, triples); got > 0.8*without {
		t.Errorf("triples of thinned records have the distance %.4f, without them in view %.4f", got, without)
	}
	if got := distance(three, pairs); got > drawn/2 {
		t.Errorf("pairs of thinned records have the distance %.4f, of drawn ones %.4f", got, drawn)
	}
}
