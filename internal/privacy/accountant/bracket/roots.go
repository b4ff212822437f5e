package bracket

import "math"

// roots is e^{-iπ v(b)} for b below size, v(b) the binary fraction with the
// reversed digits of b. Each part is within (1+2⁻⁴⁰)u of the exact one, relative to
// 1: products of two roots known to 100 bits.
func roots(size int) []complex128 {
	const digits = 6
	const low = 1 << digits
	step := expMinusPi(1.0 / low)
	fine := [low]complexPair{{re: floatPair{1, 0}}}
	power := fine[0]
	for k := 1; k < low; k++ {
		power = power.times(step)
		fine[reversed(k, digits)] = power
	}
	table := make([]complex128, size)
	for high := 0; high*low < size; high++ {
		v := 0.0
		for h, digit := high, 0.5; h > 0; h, digit = h/2, digit/2 {
			v += float64(h%2) * digit
		}
		coarse := expMinusPi(v / low)
		for i := range min(low, size-high*low) {
			z := fine[i].times(coarse)
			table[high*low+i] = complex(z.re.high, z.im.high)
		}
	}
	return table
}

// reversed is k with its digits in reverse order.
func reversed(k, digits int) (r int) {
	for range digits {
		r, k = 2*r+k%2, k/2
	}
	return r
}

// floatPair is the number high + low, |low| at most half a unit in the last
// place of high: about 106 bits. Dekker 1971, doi:10.1007/BF01397083.
type floatPair struct{ high, low float64 }

func (a floatPair) plus(b floatPair) floatPair {
	sum := a.high + b.high
	part := sum - a.high
	rest := (a.high - (sum - part)) + (b.high - part)
	return pairOf(sum, rest+a.low+b.low)
}

func (a floatPair) times(b floatPair) floatPair {
	p := a.high * b.high
	return pairOf(p, math.FMA(a.high, b.high, -p)+(a.high*b.low+a.low*b.high))
}

func (a floatPair) over(b float64) floatPair {
	q := a.high / b
	return pairOf(q, (math.FMA(-q, b, a.high)+a.low)/b)
}

func (a floatPair) negated() floatPair { return floatPair{-a.high, -a.low} }

// pairOf is the sum of a and a much smaller b.
func pairOf(a, b float64) floatPair {
	sum := a + b
	return floatPair{sum, b - (sum - a)}
}

type complexPair struct{ re, im floatPair }

func (a complexPair) times(b complexPair) complexPair {
	return complexPair{
		a.re.times(b.re).plus(a.im.times(b.im).negated()),
		a.re.times(b.im).plus(a.im.times(b.re)),
	}
}

// expMinusPi is e^{-iπv} for v from 0 to 1/64, by Taylor's series.
func expMinusPi(v float64) complexPair {
	pi := floatPair{math.Pi, 1.2246467991473532e-16} // math.Pi is rounded to its first part
	x := pi.times(floatPair{v, 0})
	minusSquare := x.times(x).negated()
	one := floatPair{1, 0}
	cos, sin := one, one
	for k := 16.0; k > 0; k -= 2 { // 0.05^18/18! is below 1e-38
		cos = one.plus(cos.times(minusSquare).over(k * (k - 1)))
		sin = one.plus(sin.times(minusSquare).over(k * (k + 1)))
	}
	return complexPair{cos, sin.times(x).negated()}
}
