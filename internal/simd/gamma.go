package simd

import "math"

// The plain forms of log Γ and its derivative, with roundings as in
// functions.go. Both are for positive numbers; others are rare in models and
// take the library's way, one by one.

// lgammaOne is log Γ(x), x > 0. From 8 on it is Stirling's series. Below, x is
// moved by whole steps to 2+z with |z| <= 1/2, where log Γ is z times a
// polynomial, so that nothing is lost near its zeros at 1 and 2; the factors
// of the steps go into one logarithm.
func lgammaOne(x float64) float64 {
	if x >= stirlingFrom {
		l := logOne(x)
		r := 1 / x
		series := math.FMA(r, polynomial(lgammaSeries[:], float64(r*r)), stirling)
		return math.FMA(x-0.5, l-1, series)
	}
	z, factor, below := x-2, 1.0, x < 1.5
	switch {
	case x < 0.5:
		z, factor = x, float64(x*(x+1))
	case below:
		z, factor = x-1, x
	}
	for z >= 0.5 {
		z--
		factor = float64(factor * (z + 2))
	}
	l := logOne(factor)
	if below {
		l = -l
	}
	return math.FMA(z, polynomial(lgammaCoefficients[:], z), l)
}

// digammaOne is the derivative of log Γ, x > 0: the asymptotic series from 10 on; below
// 10 after ten steps up, whose reciprocals add up to one quotient: the derivative of
// x(x+1)···(x+9) by x(x+1)···(x+9).
func digammaOne(x float64) float64 {
	y, steps := x, 0.0
	if x < digammaFrom {
		y = x + digammaFrom
		product, derivative := risingCoefficients[0], 0.0
		for _, a := range risingCoefficients[1:] {
			derivative = math.FMA(derivative, x, product)
			product = math.FMA(product, x, a)
		}
		derivative = math.FMA(derivative, x, product)
		steps = derivative / float64(product*x)
	}
	r := 1 / y
	z := float64(r * r)
	series := math.FMA(z, polynomial(digammaSeries[:], z), float64(0.5*r))
	return (logOne(y) - series) - steps
}

// Lgamma sets dst to log|Γ(x)|: for positive x to within 6 ulp.
func Lgamma(dst, x []float64) { gammaFunction(dst, x[:len(dst)], active.lgamma, lgammaOne, lgammaRest) }

// Digamma sets dst to the derivative of log|Γ(x)|: for positive x to within 6
// ulp of it or of 1, whichever is larger; NaN at 0, -1, -2, ...
func Digamma(dst, x []float64) {
	gammaFunction(dst, x[:len(dst)], active.digamma, digammaOne, digammaRest)
}

// gammaFunction computes a function by its kernel if all x are positive, else
// one by one, so that the others may be computed by the library.
func gammaFunction(dst, x []float64, kernel func(dst, x []float64), one, rest func(float64) float64) {
	positive := true
	for _, v := range x {
		positive = positive && v > 0
	}
	if positive {
		kernel(dst, x)
		return
	}
	for i, v := range x {
		if v > 0 {
			dst[i] = one(v)
		} else {
			dst[i] = rest(v)
		}
	}
}

func lgammaRest(x float64) float64 {
	y, _ := math.Lgamma(x)
	return y
}

// digammaRest reflects: Abramowitz and Stegun 6.3.7.
func digammaRest(x float64) float64 {
	if x == math.Floor(x) || math.IsNaN(x) {
		return math.NaN()
	}
	return digammaOne(1-x) - math.Pi/math.Tan(math.Pi*x)
}
