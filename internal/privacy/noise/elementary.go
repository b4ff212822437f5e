package noise

import "math"

// The functions of this file are written out, with every rounding fixed by
// math.FMA, so that all machines and the vector kernels give the same bits.

// log returns the natural logarithm of a positive, finite, normal x, within
// 1 ulp. FreeBSD's e_log.c: x = 2^k (1+f), sqrt(1/2) < 1+f < sqrt(2),
// log(1+f) = f - f²/2 + s(f²/2 + R(s²)), s = f/(2+f).
func log(x float64) float64 {
	const (
		sqrtHalf = 0x3fe6a09e667f3bcd // bits of sqrt(1/2)
		one      = 0x3ff0000000000000
		ln2Hi    = 6.93147180369123816490e-01
		ln2Lo    = 1.90821492927058770002e-10
		l1       = 6.666666666666735130e-01
		l2       = 3.999999999940941908e-01
		l3       = 2.857142874366239149e-01
		l4       = 2.222219843214978396e-01
		l5       = 1.818357216161805012e-01
		l6       = 1.531383769920937332e-01
		l7       = 1.479819860511658591e-01
	)
	shifted := math.Float64bits(x) + (one - sqrtHalf)
	k := float64(int64(shifted>>52) - 1023)
	f := math.Float64frombits(shifted&(1<<52-1)+sqrtHalf) - 1
	s := f / (2 + f)
	z := s * s
	r := math.FMA(z, l7, l6)
	r = math.FMA(z, r, l5)
	r = math.FMA(z, r, l4)
	r = math.FMA(z, r, l3)
	r = math.FMA(z, r, l2)
	r = math.FMA(z, r, l1)
	half := float64(0.5*f) * f
	tail := math.FMA(s, math.FMA(z, r, half), float64(k*ln2Lo))
	return math.FMA(k, ln2Hi, f-(half-tail))
}

// sincosTurn returns the sine and cosine of 2π w/2^64, within 2 ulp each. The
// nearest quarter turn is removed exactly; the rest, at most π/4, goes through
// the polynomials of FreeBSD's k_sin.c and k_cos.c.
func sincosTurn(w uint64) (sin, cos float64) {
	const (
		s1 = -1.66666666666666324348e-01
		s2 = 8.33333333332248946124e-03
		s3 = -1.98412698298579493134e-04
		s4 = 2.75573137070700676789e-06
		s5 = -2.50507602534068634195e-08
		s6 = 1.58969099521155010221e-10
		c1 = 4.16666666666666019037e-02
		c2 = -1.38888888888741095749e-03
		c3 = 2.48015872894767294178e-05
		c4 = -2.75573143513906633035e-07
		c5 = 2.08757232129817482790e-09
		c6 = -1.13596475577881948265e-11
	)
	quarter := (w + 1<<61) >> 62 & 3
	y := float64(int64(w-quarter<<62)) * (2 * math.Pi * 0x1p-64)
	z := y * y
	p := math.FMA(z, s6, s5)
	p = math.FMA(z, p, s4)
	p = math.FMA(z, p, s3)
	p = math.FMA(z, p, s2)
	p = math.FMA(z, p, s1)
	s := math.FMA(float64(y*z), p, y)
	p = math.FMA(z, c6, c5)
	p = math.FMA(z, p, c4)
	p = math.FMA(z, p, c3)
	p = math.FMA(z, p, c2)
	p = math.FMA(z, p, c1)
	h := 0.5 * z
	t := 1 - h
	c := t + math.FMA(float64(z*z), p, (1-t)-h)
	switch quarter {
	case 0:
		return s, c
	case 1:
		return c, -s
	case 2:
		return -s, -c
	default:
		return -c, s
	}
}
