package posterior

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/stats"
)

// The records' information about a coefficient differs from that of simulated records. The
// log of the ratio is a mixture of two normals. Its standard deviation is spreadRight for most
// columns, and spreadWrong for the share shareWrong of columns whose declared law is wrong. A
// bought law is right.
const spreadRight, spreadWrong, shareWrong = 0.1, 1.0, 0.15

// slopeFactors are how much steeper f is in each coordinate than the moments have it,
// by what the released gradients show: log factors, with variances, both (P).
type slopeFactors struct{ log, variance []float64 }

// measuredFactors compares the curvature h that the fit's steps show with the slope of
// the moments in the coordinates of coefficients: h is the factor times the slope
// with noise of variance v.
func measuredFactors(sums GradientSums, x moments, coefficients []bool, batches float64, bought bool) slopeFactors {
	wrong := shareWrong
	if bought {
		wrong = 0
	}
	p := len(x.point)
	out := slopeFactors{make([]float64, p), make([]float64, p)}
	for j, is := range coefficients {
		if expected := x.slope.At(j, j); is && expected > 0 && sums.Square[j] > 0 {
			unit := sums.Square[j] * expected
			out.log[j], out.variance[j] = logFactor(sums.Likelihood[j]/unit, sums.curvatureNoise(j, expected, batches)/(unit*unit), wrong)
		}
	}
	return out
}

// logFactor is the posterior mean and variance of l, wrong with that probability,
// given a measurement of e^l with variance v.
func logFactor(measured, v, wrong float64) (mean, variance float64) {
	const points, reach = 801, 6.0
	var at, log [points]float64
	for i := range at {
		z := reach * (2*float64(i)/(points-1) - 1)
		at[i] = spreadWrong * z
		off, right := measured-math.Exp(at[i]), at[i]/spreadRight
		prior := (1-wrong)/spreadRight*math.Exp(-right*right/2) + wrong/spreadWrong*math.Exp(-z*z/2)
		log[i] = math.Log(prior) - off*off/(2*v)
	}
	return stats.GridMoments(at[:], log[:])
}

// scale multiplies the information in each coordinate by its factor, as wider columns do;
// gradients and scores grow by the root of the factor. The uncertainty of the factors adds
// to the variance of f, in proportion to the posterior's covariance.
func (x *moments) scale(by slopeFactors, covariance *mat.SymDense) {
	p := len(x.point)
	root := make([]float64, p)
	for j, l := range by.log {
		root[j] = math.Exp(l / 2)
		x.mean[j] *= root[j]
	}
	for i := range p {
		for j := range p {
			x.slope.Set(i, j, x.slope.At(i, j)*root[i]*root[j])
		}
		for j := range i + 1 {
			x.variance.SetSym(i, j, x.variance.At(i, j)*root[i]*root[j])
		}
	}
	for j, v := range by.variance {
		slope := x.slope.At(j, j)
		x.variance.SetSym(j, j, x.variance.At(j, j)+v*slope*slope*covariance.At(j, j))
	}
}
