package posterior

import (
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The variances of the first coordinates given all others, and the covariance of the rest given the first, become the
// covariance that they are of. Other coordinates stay as they are.
func TestCoupled(t *testing.T) {
	v := mat.NewSymDense(4, []float64{
		4, 1.5, 1, -0.5,
		1.5, 3, 0.2, 0.7,
		1, 0.2, 2, 0.3,
		-0.5, 0.7, 0.3, 1})
	all, n := []int{3, 0, 4, 1}, 2 // coordinate 2 is another one
	none := mat.NewSymDense(4, nil)
	precision := inverse(v, none)
	covariance := mat.NewSymDense(5, nil)
	for i, k := range all[:n] {
		covariance.SetSym(k, k, 1/precision.At(i, i))
	}
	setSubmatrix(covariance, all[n:], inverse(submatrix(precision, []int{2, 3}), mat.NewSymDense(2, nil)))
	covariance.SetSym(2, 2, 7)
	coupled(covariance, all, n, v)
	if got := submatrix(covariance, all); !mat.EqualApprox(got, v, 1e-12) {
		t.Errorf("the covariance is\n%v, want\n%v", mat.Formatted(got), mat.Formatted(v))
	}
	for k := range 5 {
		if want := map[bool]float64{true: 7}[k == 2]; covariance.At(2, k) != want {
			t.Errorf("covariance of coordinates 2 and %d is %g, want %g", k, covariance.At(2, k), want)
		}
	}
}
