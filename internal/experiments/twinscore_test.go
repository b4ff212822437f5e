package main

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
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

// Cells that are written for other programs are read again as they were; a cell that the
// domain does not have is refused.
func TestPeersReadCells(t *testing.T) {
	d := discretised{[]string{"x", "y"}, []int{3, 2}, [][]int32{{0, 2, 1}, {1, 0, 1}}}
	cells := filepath.Join(t.TempDir(), "cells.csv")
	if err := d.write(cells, filepath.Join(t.TempDir(), "domain.json")); err != nil {
		t.Fatal(err)
	}
	got, err := d.like(cells)
	if err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("read %v, %v, want %v", got, err, d)
	}
	if err := os.WriteFile(cells, []byte("x,y\n0,1\n3,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.like(cells); err == nil || !strings.Contains(err.Error(), "cells.csv:3: 3 is not a cell of x") {
		t.Errorf("a cell outside the domain: %v", err)
	}
}
