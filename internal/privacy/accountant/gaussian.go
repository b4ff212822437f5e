package accountant

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// gaussianDelta is δ(ε) of the pair N(μ,1), N(0,1), in the parametrisation
// x = ε/μ - μ/2, the point where the loss is ε:
//
//	δ = P(Z > x) - e^ε P(Z > x+μ) = φ(x) [R(x) - R(x+μ)],  R the Mills ratio.
//
// Balle and Wang 2018, arXiv:1805.06530. Relative error about 1e-13 wherever
// the answer is above 1e-300.
func gaussianDelta(mu, x float64) float64 {
	if mu > 0.5 {
		if x < 0 {
			return numeric.NormalTail(x) - numeric.NormalPDF(x)*numeric.MillsRatio(x+mu)
		}
		return numeric.NormalPDF(x) * (numeric.MillsRatio(x) - numeric.MillsRatio(x+mu))
	}
	if x <= -27 {
		return -math.Expm1(mu * (x + mu/2)) // ε far below the mean: δ = 1 - e^ε
	}
	// The difference cancels for small mu: it is the integral of -R' from x to x+μ.
	rule := numeric.Gauss6
	if x < 0 { // R is steep there
		rule = numeric.Gauss16
	}
	sum := 0.0
	for j, u := range rule.X {
		sum += rule.W[j] * numeric.MillsSlope(x+mu*u)
	}
	return mu * numeric.NormalPDF(x) * sum
}

// gaussianEpsilon is the smallest ε >= 0 with δ(ε) <= delta for the pair
// N(μ,1), N(0,1).
func gaussianEpsilon(mu, delta float64) float64 {
	reached := func(x float64) bool {
		if mu > 0.5 && x < 0 { // δ near 1 has few digits of 1-δ
			return numeric.NormalTail(-x)+numeric.NormalPDF(x)*numeric.MillsRatio(x+mu) >= 1-delta
		}
		return gaussianDelta(mu, x) <= delta
	}
	if mu == 0 || reached(-mu/2) {
		return 0
	}
	x := numeric.Bisect(-mu/2, 40, reached)
	return math.Max(0, mu*(x+mu/2))
}

// GaussianMu returns the μ for which μ-Gaussian differential privacy is
// exactly (t.Epsilon, t.Delta)-differential privacy: the largest μ that the
// target allows. NaN when the target is out of range (Epsilon < 0, or Delta
// not from 1e-280 to below 1). Dong, Roth, Su 2022, arXiv:1905.02383.
func GaussianMu(t Target) float64 {
	if t.check() != nil {
		return math.NaN()
	}
	excess := func(logMu float64) bool {
		mu := math.Exp(logMu)
		return gaussianDelta(mu, t.Epsilon/mu-mu/2) >= t.Delta
	}
	lo, hi := math.Log(1e-18), math.Log(math.Sqrt(2*t.Epsilon)+100)
	return math.Exp(numeric.Bisect(lo, hi, excess))
}
