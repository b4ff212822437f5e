package ballsandbins

import (
	"math"
	"testing"

	"d3p/internal/privacy/accountant/numeric"
)

// The grid of one outcome has all of its mass below the cut, and its mean, which is
// the probability under the shifted law; merging loses only what is left over at the
// end, and puts nothing further out.
func TestOutcomesOnTheGrid(t *testing.T) {
	for _, e := range []epoch{{s: 1, m: 10, g: 0.01, cut: 1}, {s: 0.7, m: 3, g: 0.05, cut: 1.5}, {s: 3, m: 100, g: 1e-3, cut: 6}} {
		spread, merged := e.single()
		var total, mean, left, leftMean float64
		for i := range spread {
			w := e.g * float64(i)
			total, mean = total+spread[i], mean+w*spread[i]
			left, leftMean = left+merged[i], leftMean+w*merged[i]
		}
		for what, off := range map[string]float64{"mass": total/(1-numeric.NormalTail(e.cut/e.s)) - 1, "mean": mean/(1-numeric.NormalTail((e.cut-1)/e.s)) - 1} {
			if !(math.Abs(off) < 1e-12) {
				t.Errorf("%+v: the %s is off by %g", e, what, off)
			}
		}
		if lost := total - left; lost < -1e-14 || lost > 0.1 || mean-leftMean < -1e-12 {
			t.Errorf("%+v: merging loses %g of the mass, %g of the mean", e, lost, mean-leftMean)
		}
	}
}
