package main

import (
	"math"
	"testing"
)

// Distances of tables that are known by hand, and a regression that sees the relation.
func TestTwinScores(t *testing.T) {
	a := discretised{[]string{"x", "y"}, []int{3, 3}, [][]int32{{0, 0, 1, 1}, {0, 0, 1, 1}}}
	b := discretised{a.names, a.sizes, [][]int32{{0, 0, 1, 1}, {0, 1, 0, 1}}}
	if one, most := distances(a, b, 1); one != 0 || most != 0 {
		t.Errorf("1-way %g, %g, want 0", one, most)
	}
	if two, most := distances(a, b, 2); two != 0.5 || most != 0.5 {
		t.Errorf("2-way %g, %g, want 0.5", two, most)
	}
	var large, test discretised
	for _, d := range []*discretised{&large, &test} {
		*d = discretised{a.names, a.sizes, [][]int32{nil, nil}}
		for i := range 400 {
			d.cells[0] = append(d.cells[0], int32(i%2))
			d.cells[1] = append(d.cells[1], int32((i+i/40)%2)) // agrees in half of the blocks
		}
	}
	if got := transferred(large, test, "y", 1); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("AUC %g of a column without relation, want 0.5", got)
	}
	copy(large.cells[1], large.cells[0])
	copy(test.cells[1], test.cells[0])
	if got := transferred(large, test, "y", 1); got != 1 {
		t.Errorf("AUC %g of the column itself, want 1", got)
	}
	if s := shuffled(a); len(s.cells[0]) != 4 {
		t.Error("a shuffled table has other rows")
	}
}
