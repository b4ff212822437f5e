package simd

import "math"

// The plain forms of the normal distribution's functions, with roundings as in
// functions.go. Φ is the distribution function.

// mills returns exp(t²/2)·Φ(-t) for t >= 0. It falls smoothly from 1/2, at last as 1/t, so
// it is a polynomial in (t-5)/(t+5), divided by 1+t.
// Shepherd and Laframboise 1981, "Chebyshev approximation of
// (1+2x)exp(x²)erfc x in 0 <= x < inf".
func mills(t float64) float64 {
	return polynomial(millsCoefficients[:], (t-5)/(t+5)) / (1 + t)
}

// tail returns Φ(-t), t >= 0. exp would magnify the rounding of t²/2.
func tail(t float64) float64 {
	if tailMax < t {
		t = tailMax
	}
	half := -0.5 * t
	e := float64(half * t)
	rounding := math.FMA(half, t, -e)
	y := expOne(e)
	return float64(math.FMA(y, rounding, y) * mills(t))
}

// normalCDFOne is Φ(x), exact in the lower tail.
func normalCDFOne(x float64) float64 {
	y := tail(math.Abs(x))
	if 0 < x {
		return 1 - y
	}
	return y
}

// logNormalCDFOne is -x²/2 + log mills(-x) below 0, log(1 - Φ(-x)) above, with
// the rounding of the difference given back.
func logNormalCDFOne(x float64) float64 {
	a := math.Abs(x)
	y := tail(a)
	u := mills(min(a, tailMax))
	rest := float64(float64(-0.5*a) * a)
	if 0 < x {
		u = 1 - y
		rest = (-y - (u - 1)) / u
	}
	f, k := split(u)
	return logReduced(f, k) + rest
}

// geluOne is x·Φ(x).
func geluOne(x float64) float64 { return x * normalCDFOne(x) }

// erfOne is a polynomial up to 1, 1 - 2Φ(-√2·x) from there on.
func erfOne(x float64) float64 {
	a := math.Abs(x)
	y := 1 - 2*tail(a*root2)
	if a < 1 {
		y = a * polynomial(erfCoefficients[:], a*a)
	}
	return math.Copysign(y, x)
}
