package law

import (
	"math"
	"testing"
)

// Transported values have the law's shares to within a record a cell, or the chance of
// the coupling, and numbers keep their order.
func TestTransport(t *testing.T) {
	const n = 20000
	l, rng := Declared(declaration()), source1()
	visits, group := &l.Columns[1], &l.Columns[3]
	visits.Edges, visits.Shares = []float64{-0.5, 0.5, 10.5, 80.5}, []float64{0.7, 0.2, 0.1}
	group.Shares, group.Missing = []float64{0.5, 0.3, 0.2}, 0.1
	numbers, levels, before := make([]float64, n), make([]float64, n), make([]float64, n)
	for b := range n {
		numbers[b], levels[b] = math.Round(80*rng.Uniform()), math.Floor(1.2*rng.Uniform())
		before[b] = numbers[b]
	}
	visits.Transport(numbers, rng)
	group.Transport(levels, rng)
	shares, kept := make([]float64, 4), 0.0
	zeros := 0.0
	for b := range n {
		shares[group.Cell(levels[b])] += 1. / n
		if levels[b] == 0 {
			kept += 1. / n
		}
		if numbers[b] == 0 {
			zeros += 1. / n
		}
		if b > 0 && before[b] < before[b-1] && numbers[b] > numbers[b-1] {
			t.Fatal("two numbers changed their order")
		}
	}
	// standard deviations below sqrt(.25/n) = .0035
	for k, want := range group.CellShares() {
		if math.Abs(shares[k]-want) > 0.018 {
			t.Errorf("share %d is %.3f, want %.3f", k, shares[k], want)
		}
	}
	if math.Abs(zeros-0.7) > 0.002 {
		t.Errorf("%.3f of the numbers are 0, want 0.7", zeros)
	}
}
