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
	// The difference cancels for small mu: integrate φ(x+v)(1-e^{-μv}) over v > 0.
	sum := 0.0
	const width, end = 0.5, 12.0
	if x > -27 { // below, 1-e^{-μv} times all the mass: same integral from the mass's left end
		for a := 0.0; a < math.Max(end, end-x); a += width {
			for j, u := range numeric.Gauss16.X {
				v := a + width*u
				sum += width * numeric.Gauss16.W[j] * math.Exp(-0.5*(x+v)*(x+v)-numeric.LogSqrt2Pi) * -math.Expm1(-mu*v)
			}
		}
		return sum
	}
	return -math.Expm1(mu * (x + mu/2)) // ε far below the mean: δ = 1 - e^ε
}

// gaussianEpsilon is the smallest ε >= 0 with δ(ε) <= delta for the pair
// N(μ,1), N(0,1).
func gaussianEpsilon(mu, delta float64) float64 {
	if mu == 0 || gaussianDelta(mu, -mu/2) <= delta {
		return 0
	}
	x := numeric.Bisect(-mu/2, 40, func(x float64) bool { return gaussianDelta(mu, x) <= delta })
	return math.Max(0, mu*(x+mu/2))
}

// GaussianMu returns the μ for which μ-Gaussian differential privacy is
// exactly (t.Epsilon, t.Delta)-differential privacy: the largest μ that the
// target allows. NaN when the target is out of range (Epsilon < 0, or Delta
// not in (0, 1)). Dong, Roth, Su 2022, arXiv:1905.02383.
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
