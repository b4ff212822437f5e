package posterior

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/modelstest"
)

// A precise measurement overrules a declaration, a vague one does not; a law that was
// bought is believed, but for a measurement that is as far off as chance never is.
func TestLogFactor(t *testing.T) {
	for _, c := range []struct{ measured, v, wrong, mean, sd, tolerance float64 }{
		{0.16, 1e-4, shareWrong, math.Log(0.16), 0.06, 0.02}, // sd is √v/measured
		{4, 0.01, shareWrong, math.Log(4), 0.025, 0.02},
		{1, 100, 0, 0, spreadRight, 0.01},
		{0.8, 0.09, 0, -0.02, 0.095, 0.01}, // (1/0.01 + 1/0.09)⁻¹ = 0.009, times −0.2/0.09
		{1, 1e6, shareWrong, 0, math.Sqrt(0.85*0.01 + 0.15), 0.01},
	} {
		mean, variance := logFactor(c.measured, c.v, c.wrong)
		if math.Abs(mean-c.mean) > c.tolerance || math.Abs(math.Sqrt(variance)-c.sd) > c.tolerance {
			t.Errorf("%g ± %g, wrong %g: log factor %.3f ± %.3f, want %.3f ± %.3f",
				c.measured, math.Sqrt(c.v), c.wrong, mean, math.Sqrt(variance), c.mean, c.sd)
		}
	}
}

// Columns that are spread otherwise than declared change the moments as the factors do:
// those of a coefficient b of records with a column half as wide are those with the
// factor ¼. What is unknown of a factor is variance, in proportion to that of b.
func TestScaledMoments(t *testing.T) {
	m := modelstest.Compile(t, "straight.yaml", straight)
	s := simulation{model: m, law: m.DeclaredLaw(), seed: 5}
	truth := []float64{0.4, -0.8}
	x := s.momentsAt(at(truth), effects{}, unclippedPlaces(truth), 500, slopeRecords)
	slope, variance := mat.DenseCopyOf(x.slope), x.variance.At(1, 1)
	mean := slices.Clone(x.mean)
	covariance := mat.NewSymDense(2, []float64{1, 0, 0, 0.01})
	x.scale(slopeFactors{[]float64{0, math.Log(0.25)}, []float64{0, 0.5}}, covariance)
	narrow := slope.At(1, 1) / 4
	for _, c := range []struct{ got, want float64 }{
		{x.slope.At(0, 0), slope.At(0, 0)}, {x.slope.At(0, 1), slope.At(0, 1) / 2}, {x.slope.At(1, 1), narrow},
		{x.mean[0], mean[0]}, {x.mean[1], mean[1] / 2},
		{x.variance.At(1, 1), variance/4 + 0.5*narrow*narrow*0.01},
	} {
		if math.Abs(c.got-c.want) > 1e-9*math.Abs(c.want) {
			t.Errorf("%g, want %g", c.got, c.want)
		}
	}
}
