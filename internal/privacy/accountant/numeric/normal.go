// Package numeric has the mathematics that all packages of the accountant share: the normal
// distribution, sums, Gauss rules, and searches for a root or a least Chernoff bound.
package numeric

import "math"

const (
	LogSqrt2Pi = 0.918938533204672741780329736405617639
	// Unit is the relative rounding error of one float64 operation.
	Unit = 0x1p-53
)

// NormalPDF is the standard normal density.
func NormalPDF(x float64) float64 { return math.Exp(-0.5*x*x - LogSqrt2Pi) }

// NormalTail is P(Z > x) for a standard normal Z, with relative accuracy in
// the right tail down to the smallest float64.
func NormalTail(x float64) float64 { return 0.5 * math.Erfc(x/math.Sqrt2) }

// MillsRatio is P(Z > x) / normalPDF(x). It overflows for x below about -38.
func MillsRatio(x float64) float64 {
	if x < smallestFraction {
		return NormalTail(x) / NormalPDF(x)
	}
	return 1 / (x + millsFraction(x))
}

// MillsSlope is 1 - x MillsRatio(x), minus the derivative of MillsRatio at x.
func MillsSlope(x float64) float64 {
	if x < smallestFraction {
		return 1 - x*MillsRatio(x)
	}
	k := millsFraction(x)
	return k / (x + k)
}

const smallestFraction = 5 // from here on 60 terms of millsFraction give full precision

// millsFraction is 1/MillsRatio(x) - x by Laplace's continued fraction, evaluated backwards.
func millsFraction(x float64) (f float64) {
	for k := 60; k >= 1; k-- {
		f = float64(k) / (x + f)
	}
	return f
}

// LogAddExp is log(eᵃ + eᵇ).
func LogAddExp(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// Bisect returns the boundary of the monotone predicate ok on [lo, hi], where
// ok(lo) is false and ok(hi) is true, to the last float64: the smallest point
// found that is ok. It works on any finite interval.
func Bisect(lo, hi float64, ok func(float64) bool) float64 {
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if ok(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
