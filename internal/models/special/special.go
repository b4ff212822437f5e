// Package special has the special functions that operations of package graph are
// made of.
package special

import "math"

// Sigmoid is 1/(1+exp(-x)) without overflow.
func Sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

// Softplus is log(1+exp(x)) = max(x, 0) + log1p(exp(-|x|)).
func Softplus(x float64) float64 {
	return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
}

// Lgamma is log|Γ(x)|.
func Lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// Digamma is d/dx log Γ(x): reflection below 0, recurrence to x ≥ 10, then the
// asymptotic series. Abramowitz and Stegun 6.3.5, 6.3.7, 6.3.18. NaN at the
// poles 0, -1, -2, ...
func Digamma(x float64) float64 {
	if math.IsInf(x, 1) {
		return x
	}
	if x <= 0 {
		if x == math.Floor(x) {
			return math.NaN()
		}
		return Digamma(1-x) - math.Pi/math.Tan(math.Pi*x)
	}
	s := 0.0
	for ; x < 10; x++ {
		s -= 1 / x
	}
	r := 1 / (x * x)
	return s + math.Log(x) - 0.5/x - r*(1./12-r*(1./120-r*(1./252-r*(1./240-r*(1./132-r*(691./32760-r/12))))))
}

// Trigamma is d²/dx² log Γ(x), by the same route. Abramowitz and Stegun
// 6.4.6, 6.4.7, 6.4.12.
func Trigamma(x float64) float64 {
	if x <= 0 {
		if x == math.Floor(x) {
			return math.NaN()
		}
		s := math.Pi / math.Sin(math.Pi*x)
		return s*s - Trigamma(1-x)
	}
	s := 0.0
	for ; x < 10; x++ {
		s += 1 / (x * x)
	}
	r := 1 / (x * x)
	return s + 1/x + r/2 + r/x*(1./6-r*(1./30-r*(1./42-r*(1./30-r*(5./66-r*(691./2730-r*7./6))))))
}

// NormalCDF is Φ(x), exact in both Tails.
func NormalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// NormalQuantile is Φ⁻¹(p): -Inf at 0, +Inf at 1, NaN outside.
func NormalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// LogNormalCDF is log Φ(x). Below -30, where Φ nears the smallest float64, it
// is the asymptotic series log φ(x) - log(-x) + log(1 - 1/x² + 3/x⁴ - ...),
// Abramowitz and Stegun 26.2.12.
func LogNormalCDF(x float64) float64 {
	switch {
	case x > 0:
		return math.Log1p(-NormalCDF(-x))
	case x > -30:
		return math.Log(NormalCDF(x))
	}
	r := 1 / (x * x)
	return -0.5*x*x - math.Log(-x) - 0.5*math.Log(2*math.Pi) + math.Log1p(-r*(1-r*(3-r*(15-r*105))))
}
