package posterior

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// H(J + v)⁻¹H for one coordinate, and along a direction without gradients: the
// information is 0 there for any ratios.
func TestNoisyInformation(t *testing.T) {
	one := noisyInformation(mat.NewSymDense(1, []float64{6}), []float64{0.5}, 9)
	if got := one.At(0, 0); math.Abs(got-36.0/12) > 1e-12 {
		t.Errorf("got %g, want 3", got)
	}
	flat := noisyInformation(mat.NewSymDense(2, []float64{6, 6, 6, 6}), []float64{0.5, 0.2}, 9)
	if got := flat.At(0, 0) + flat.At(1, 1) - 2*flat.At(0, 1); math.Abs(got) > 1e-12 {
		t.Errorf("the information along (1, −1) is %g, want 0", got)
	}
}

// The parts within and beyond add up to the whole, and neither has negative
// variances. Where the other matrix is smaller, it is the part within.
func TestSplit(t *testing.T) {
	total := mat.NewSymDense(2, []float64{4, 1, 1, 3})
	for _, exact := range []*mat.SymDense{
		mat.NewSymDense(2, []float64{2, 0.5, 0.5, 1.5}),
		mat.NewSymDense(2, []float64{9, -2, -2, 1}), // wider one way, narrower the other
		mat.NewSymDense(2, []float64{8, 2, 2, 6}),
	} {
		within, beyond := split(total, exact)
		var sum mat.SymDense
		sum.AddSym(within, beyond)
		if !mat.EqualApprox(&sum, total, 1e-12) {
			t.Errorf("%v and %v are not %v", within, beyond, total)
		}
		for _, part := range []*mat.SymDense{within, beyond} {
			if values, _ := eigen(part); values[0] < -1e-12 {
				t.Errorf("%v has a negative variance", part)
			}
		}
	}
	half, _ := split(total, mat.NewSymDense(2, []float64{2, 0.5, 0.5, 1.5}))
	if !mat.EqualApprox(half, mat.NewSymDense(2, []float64{2, 0.5, 0.5, 1.5}), 1e-12) {
		t.Errorf("of half the matrix %v is within", half)
	}
}
