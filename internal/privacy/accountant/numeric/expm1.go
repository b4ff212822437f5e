package numeric

import "math"

// small bounds the range of Taylor's polynomial: its error in e^x - 1 is below x^11/11!,
// which is 1e-18 x.
const small = 0.1

// Expm1 is e^x - 1 with a relative error of at most 4 Unit, quick for small x.
func Expm1(x float64) float64 {
	if math.Abs(x) > small {
		return math.Expm1(x)
	}
	x2 := x * x
	x4 := x2 * x2
	low := (1.0/2 + x*(1.0/6)) + x2*(1.0/24+x*(1.0/120))
	high := (1.0/720 + x*(1.0/5040)) + x2*(1.0/40320+x*(1.0/362880))
	return x + x2*(low+x4*(high+x4*(1.0/3628800)))
}

// Exp is e^x with a relative error of at most 4 Unit, quick for small x.
func Exp(x float64) float64 {
	if math.Abs(x) > small {
		return math.Exp(x)
	}
	return 1 + Expm1(x)
}
