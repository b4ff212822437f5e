package posterior

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Without noise the variance is the design effect over the information, and all of it is the records'.
func TestCovarianceOfAlikeRows(t *testing.T) {
	h := mat.NewSymDense(2, []float64{100, 0, 0, 50})
	w := widening{free: []int{0, 1}, prior: mat.NewSymDense(2, nil), ratio: []float64{4, 0.5}, designEffects: designEffects{4, 0.5}, noise: 25}
	exact, total := w.covariances(h, h)
	for j, want := range []float64{4. / 100, 0.5 / 50} {
		if math.Abs(exact.At(j, j)/want-1) > 1e-4 {
			t.Errorf("coordinate %d: variance %g without noise, want %g", j, exact.At(j, j), want)
		}
		if want += 25 / math.Pow(h.At(j, j), 2); math.Abs(total.At(j, j)/want-1) > 1e-4 {
			t.Errorf("coordinate %d: variance %g, want %g", j, total.At(j, j), want)
		}
	}
}

// Measured information takes the place of that of a wrong law, and is as uncertain as it was measured.
func TestMeasuredInformation(t *testing.T) {
	of := lawRatios{logs: []float64{math.Log(0.25), 0}, sd: []float64{0.1, 2}}
	if got := of.informations([]float64{8, 3}); math.Abs(got[0]-2) > 1e-12 || got[1] != 3 {
		t.Errorf("informations %v, want 2 and 3", got)
	}
	if a, b := of.spread(0, 0.7), of.spread(1, 0.7); a != 0.1 || b != 2 {
		t.Errorf("spreads %g and %g", a, b)
	}
	if none := (lawRatios{}); none.log(0) != 0 || none.spread(0, 0.7) != 0.7 {
		t.Error("what is not bought changes the law")
	}
}
