package simd

import "math"

// The plain forms of the functions. Each is the same sequence of roundings as the assembly:
// math.FMA where it has a fused multiply-add, two roundings elsewhere (the
// explicit float64 conversions keep the compiler from fusing).

const (
	magic  = 0x1.8p52 // adding it rounds to an integer in the low bits
	ln2Hi  = 6.93147180369123816490e-01
	ln2Lo  = 1.90821492927058770002e-10
	expMax = 709.782712893383973096
	expMin = -708.0
)

// expCoefficients are 1/13!, 1/12!, ..., 1/1!, 1/0!.
var expCoefficients = [14]float64{
	1 / 6227020800.0, 1 / 479001600.0, 1 / 39916800.0, 1 / 3628800.0, 1 / 362880.0, 1 / 40320.0, 1 / 5040.0,
	1 / 720.0, 1 / 120.0, 1 / 24.0, 1 / 6.0, 1 / 2.0, 1, 1,
}

// expOne reduces x = k·ln 2 + r, |r| <= ln(2)/2, and sums the Taylor series of
// exp(r), whose rest is below 2^-57.
func expOne(x float64) float64 {
	switch {
	case x > expMax:
		return math.Inf(1)
	case x < expMin:
		return 0
	case math.IsNaN(x):
		return x
	}
	shifted := math.FMA(x, math.Log2E, magic)
	k := shifted - magic
	r := math.FMA(-k, ln2Hi, x)
	r = math.FMA(-k, ln2Lo, r)
	p := expCoefficients[0]
	for _, a := range expCoefficients[1:] {
		p = math.FMA(p, r, a)
	}
	scale := math.Float64frombits((math.Float64bits(shifted) + 1022) << 52) // 2^(k-1)
	y := float64(p * scale)
	return y + y
}

// logCoefficients are L7 .. L1 of FreeBSD's e_log.c.
var logCoefficients = [7]float64{
	1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
	2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01,
}

// logOne reduces x = (1+f)·2^k with sqrt(1/2) <= 1+f < sqrt(2).
func logOne(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	bias := 0.0
	if x < 0x1p-1022 {
		x *= 0x1p54
		bias = 54
	}
	f, k := split(x)
	return logReduced(f, k-bias)
}

const sqrtHalf = 0x3fe6a09e667f3bcd // bits of sqrt(1/2)

// split returns f and k with x = (1+f)·2^k for normal positive x.
func split(x float64) (f, k float64) {
	bits := math.Float64bits(x)
	biased := (bits - sqrtHalf + 1023<<52) >> 52
	return math.Float64frombits(bits-(biased-1023)<<52) - 1, float64(biased) - 1023
}

func logReduced(f, k float64) float64 {
	s := f / (f + 2)
	z := s * s
	r := logCoefficients[0]
	for _, a := range logCoefficients[1:] {
		r = math.FMA(r, z, a)
	}
	r = float64(r * z)
	half := float64(float64(f*f) * 0.5)
	t := math.FMA(s, half+r, float64(k*ln2Lo))
	return math.FMA(k, ln2Hi, f-(half-t))
}

// sigmoidOne is 1/(1+exp(-x)) by exp(-|x|), which does not overflow.
func sigmoidOne(x float64) float64 {
	e := expOne(-math.Abs(x))
	num := 1.0
	if x < 0 {
		num = e
	}
	return num / (1 + e)
}

// softplusOne is max(x, 0) + log(1+exp(-|x|)), with the rounding of the sum in
// the logarithm given back.
func softplusOne(x float64) float64 {
	if math.IsNaN(x) {
		return x
	}
	e := expOne(-math.Abs(x))
	u := 1 + e
	f, k := split(u)
	return math.Max(x, 0) + (logReduced(f, k) + (e-(u-1))/u)
}
