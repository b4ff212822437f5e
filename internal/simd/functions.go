package simd

import "math"

// The plain forms of the functions. Each is the same sequence of roundings as the assembly:
// math.FMA where it has a fused multiply-add, two roundings elsewhere (the
// explicit float64 conversions keep the compiler from fusing).

// polynomial is Horner's rule with fused multiply-adds, the highest power first.
func polynomial(coefficients []float64, x float64) float64 {
	p := coefficients[0]
	for _, a := range coefficients[1:] {
		p = math.FMA(p, x, a)
	}
	return p
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
	r, half := expReduced(x)
	y := float64(polynomial(expCoefficients[:], r) * half)
	return y + y
}

// expReduced returns r and 2^(k-1).
func expReduced(x float64) (r, half float64) {
	shifted := math.FMA(x, log2E, magic)
	k := shifted - magic
	r = math.FMA(-k, ln2Hi, x)
	r = math.FMA(-k, ln2Lo, r)
	return r, math.Float64frombits((math.Float64bits(shifted) + 1022) << 52)
}

// expm1One is 2^k·(exp(r)-1) + (2^k-1) in the reduction of expOne.
func expm1One(x float64) float64 {
	switch {
	case x > expMax:
		return math.Inf(1)
	case x < expMin:
		return -1
	case math.IsNaN(x):
		return x
	}
	r, half := expReduced(x)
	p := math.FMA(float64(r*r), polynomial(expCoefficients[:len(expCoefficients)-2], r), r)
	y := math.FMA(p, half, half-0.5)
	return y + y
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

// split returns f and k with x = (1+f)·2^k for normal positive x.
func split(x float64) (f, k float64) {
	bits := math.Float64bits(x)
	biased := (bits - sqrtHalf + 1023<<52) >> 52
	return math.Float64frombits(bits-(biased-1023)<<52) - 1, float64(biased) - 1023
}

func logReduced(f, k float64) float64 {
	s := f / (f + 2)
	z := s * s
	r := float64(polynomial(logCoefficients[:], z) * z)
	half := float64(float64(f*f) * 0.5)
	t := math.FMA(s, half+r, float64(k*ln2Lo))
	return math.FMA(k, ln2Hi, f-(half-t))
}

// log1pOne is log(1+x), with the rounding of the sum given back.
func log1pOne(x float64) float64 {
	u := 1 + x
	lost := (x - (u - 1)) / u
	if math.IsNaN(lost) { // x is -1, infinite or NaN
		lost = 0
	}
	return logOne(u) + lost
}

// tanhOne is e/(e+2) with e = exp(2|x|)-1.
func tanhOne(x float64) float64 {
	a := math.Abs(x)
	if tanhMax < a {
		a = tanhMax
	}
	e := expm1One(a + a)
	return math.Copysign(e/(e+2), x)
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

// logSigmoidOne is log(1/(1+exp(-x))).
func logSigmoidOne(x float64) float64 { return -softplusOne(-x) }
