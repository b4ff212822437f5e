package synthesis

import (
	"math"
	"slices"
	"testing"

	"d3p/internal/marginals"
	"d3p/internal/privacy/noise"
)

// A drawer compares every triple once, and none where their tables are too large.
func TestCompared(t *testing.T) {
	table := &Table{Columns: []Column{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}}
	table.Distances = []Distance{{Columns: []string{"b", "a"}}, {Columns: []string{"d", "c", "a"}}}
	small := marginals.Domain{2, 3, 4, 5}
	sets, triples := table.compared(small)
	want := []marginals.Set{{0, 1, 2}, {0, 1, 3}, {1, 2, 3}}
	if !slices.EqualFunc(triples, want, slices.Equal) || len(sets) != 2 || !slices.Equal(sets[1], marginals.Set{0, 2, 3}) {
		t.Errorf("sets %v, triples %v", sets, triples)
	}
	if sets, triples = table.compared(marginals.Domain{2, 300, 300, 300}); len(sets) != 2 || triples != nil {
		t.Errorf("large: sets %v, triples %v", sets, triples)
	}
	if sets, _ = table.compared(marginals.Domain{300, 2, 300, 300}); sets != nil {
		t.Errorf("a workload too large has sets %v", sets)
	}
}

// The quantiles of a cell's records are evenly spaced, and those of one column say nothing
// about another's.
func TestQuantilesAreEven(t *testing.T) {
	const n = 4000
	random := noise.NewRandom(noise.Public(3).Stream(noise.Twin))
	d := &Drawer{table: &Table{Columns: []Column{{Name: "a", Bins: []int{0, 1, 2}}, {Name: "b", Bins: []int{0, 1}}}}}
	cells := make([][]int32, 2)
	for i := range n {
		cells[0], cells[1] = append(cells[0], int32(i%3)), append(cells[1], int32(i/7%2))
	}
	q := d.quantiles(cells, random)
	product := 0.0
	for k := range cells {
		for cell := range int32(3 - k) {
			var of []float64
			for i, u := range q[k] {
				if cells[k][i] == cell {
					of = append(of, u)
				}
			}
			slices.Sort(of)
			for i, u := range of {
				if at := u * float64(len(of)); at < float64(i) || at > float64(i+1) {
					t.Fatalf("column %d, cell %d: quantile %d of %d is %g", k, cell, i, len(of), u)
				}
			}
		}
	}
	for i := range n {
		product += 12 * (q[0][i] - 0.5) * (q[1][i] - 0.5)
	}
	// product has the variance n: P(|product| > 6 √n) < 1e-8, and the stream is fixed
	if math.Abs(product) > 6*math.Sqrt(n) {
		t.Errorf("quantiles of two columns have the correlation %g", product/n)
	}
}
