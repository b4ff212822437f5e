package marginals

import (
	"slices"
	"testing"
)

// Rare levels and rare cells are not frequent.
func TestFrequentCells(t *testing.T) {
	d := Domain{2, 3, 2}
	m := Measurement{Table: Table{Set: Set{0, 1}}, Counts: []float64{600, 350, 50, 400, 30, 45}, Variance: 100}
	if got, want := d.Frequent(m), []bool{true, true, true, true, false, true}; !slices.Equal(got, want) {
		t.Errorf("%v are frequent, want %v", got, want)
	}
	m.Counts = []float64{600, 350, 41, 400, 300, 10} // the last level has fewer than 4·√200 records
	if got, want := d.Frequent(m), []bool{true, true, false, true, true, false}; !slices.Equal(got, want) {
		t.Errorf("%v are frequent, want %v", got, want)
	}
}
