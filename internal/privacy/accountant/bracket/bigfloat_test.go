package bracket

import (
	"math"
	"math/big"
)

// Arithmetic with 200 bits, for tests of rounding errors.

const bigBits = 200

const bigPiDigits = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899"

func bigFloat(x float64) *big.Float { return new(big.Float).SetPrec(bigBits).SetFloat64(x) }

func bigPi() *big.Float {
	x, _, err := big.ParseFloat(bigPiDigits, 10, bigBits, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return x
}

func bigSum(a, b *big.Float) *big.Float        { return new(big.Float).SetPrec(bigBits).Add(a, b) }
func bigDifference(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bigBits).Sub(a, b) }
func bigProduct(a, b *big.Float) *big.Float    { return new(big.Float).SetPrec(bigBits).Mul(a, b) }
func bigQuotient(a, b *big.Float) *big.Float   { return new(big.Float).SetPrec(bigBits).Quo(a, b) }

// bigExp is e^x: Taylor's series of x/2^32, squared 32 times.
func bigExp(x *big.Float) *big.Float {
	const halvings = 32
	x = new(big.Float).SetPrec(bigBits+halvings).SetMantExp(x, -halvings)
	sum, term := bigFloat(1).SetPrec(bigBits+halvings), bigFloat(1).SetPrec(bigBits+halvings)
	for k := 1; k < 40; k++ {
		term.Mul(term, x)
		term.Quo(term, bigFloat(float64(k)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.SetPrec(bigBits)
}

// bigComplex is a complex number of 200 bits.
type bigComplex struct{ re, im *big.Float }

func (a bigComplex) plus(b bigComplex) bigComplex {
	return bigComplex{bigSum(a.re, b.re), bigSum(a.im, b.im)}
}

func (a bigComplex) minus(b bigComplex) bigComplex {
	return bigComplex{bigDifference(a.re, b.re), bigDifference(a.im, b.im)}
}

func (a bigComplex) times(b bigComplex) bigComplex {
	return bigComplex{
		bigDifference(bigProduct(a.re, b.re), bigProduct(a.im, b.im)),
		bigSum(bigProduct(a.re, b.im), bigProduct(a.im, b.re)),
	}
}

func (a bigComplex) conjugate() bigComplex { return bigComplex{a.re, new(big.Float).Neg(a.im)} }

// power is a^n by repeated squaring.
func (a bigComplex) power(n int64) bigComplex {
	p := bigComplex{bigFloat(1), bigFloat(0)}
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			p = p.times(a)
		}
		a = a.times(a)
	}
	return p
}

// distance is |a - z|.
func (a bigComplex) distance(z complex128) float64 {
	re, _ := bigDifference(a.re, bigFloat(real(z))).Float64()
	im, _ := bigDifference(a.im, bigFloat(imag(z))).Float64()
	return math.Hypot(re, im)
}

// bigExpI is e^{ix}, by Taylor's series after whole turns are taken off.
func bigExpI(x *big.Float) bigComplex {
	turn := bigProduct(bigFloat(2), bigPi())
	turns, _ := bigQuotient(x, turn).Int(nil)
	x = bigDifference(x, bigProduct(turn, new(big.Float).SetPrec(bigBits).SetInt(turns)))
	z, term := bigComplex{bigFloat(1), bigFloat(0)}, bigComplex{bigFloat(1), bigFloat(0)}
	for k := 1; k < 90; k++ {
		term = term.times(bigComplex{bigFloat(0), bigQuotient(x, bigFloat(float64(k)))})
		z = z.plus(term)
	}
	return z
}

// bigTransform is Σ_j x_j e^{-2πijk/n} in the order of k.
func bigTransform(x []bigComplex, turn []bigComplex) []bigComplex {
	n := len(x)
	if n == 1 {
		return x
	}
	var even, odd []bigComplex
	for j := 0; j < n; j += 2 {
		even, odd = append(even, x[j]), append(odd, x[j+1])
	}
	even, odd = bigTransform(even, turn), bigTransform(odd, turn)
	z := make([]bigComplex, n)
	for k := range n / 2 {
		t := odd[k].times(turn[k*(len(turn)/n)])
		z[k], z[k+n/2] = even[k].plus(t), even[k].minus(t)
	}
	return z
}

// bigTurns is e^{-2πik/n}, k < n.
func bigTurns(n int) []bigComplex {
	turns := make([]bigComplex, n)
	step := bigProduct(bigFloat(-2/float64(n)), bigPi())
	for k := range turns {
		turns[k] = bigExpI(bigProduct(step, bigFloat(float64(k))))
	}
	return turns
}
