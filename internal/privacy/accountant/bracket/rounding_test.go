package bracket

import (
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"testing"

	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
)

// How far above an error its bound may be: a bound for every input is no
// prediction for one.
const tooLoose = 5e3

// Every root that a transform of up to 2^22 points multiplies by is as near to the
// exact one as theorem 1 of the package's documentation takes for granted.
func TestRootsAreRounded(t *testing.T) {
	t.Parallel()
	const size = 3 << 19
	table := roots(size)
	rng := rand.New(rand.NewSource(1))
	for i := range 3000 {
		b := i
		if i >= 1000 {
			b = rng.Intn(size)
		}
		v := 0.0
		for k, digit := b, 0.5; k > 0; k, digit = k/2, digit/2 {
			v += float64(k%2) * digit
		}
		exact := bigExpI(bigProduct(bigFloat(-v), bigPi()))
		if d := exact.distance(table[b]); d > numeric.Unit*(1+1e-12) {
			t.Fatalf("root %d is wrong by %.3g u", b, d/numeric.Unit)
		}
	}
}

// A transform and its inverse against the same with 200 bits.
func TestTransformError(t *testing.T) {
	t.Parallel()
	for _, n := range []int{64, 128, 512, 2048} {
		turns := bigTurns(n)
		for name, x := range testSequences(n) {
			exact := make([]bigComplex, n)
			for j := range x {
				exact[j] = bigComplex{bigFloat(x[j]), bigFloat(0)}
			}
			exact = bigTransform(exact, turns)
			f, c := newDFT(n), make([]complex128, n/2+1)
			f.coefficients(c, x)
			wrong, norm := 0.0, 0.0
			for k := range n {
				d := exact[k].distance(coefficient(c, k))
				wrong += d * d
				norm += real(coefficient(c, k))*real(coefficient(c, k)) + imag(coefficient(c, k))*imag(coefficient(c, k))
			}
			checkRounding(t, fmt.Sprintf("%s, %d points", name, n), math.Sqrt(wrong/norm), transformError(n))

			// the inverse of what these coefficients exactly are
			for k := range n {
				z := coefficient(c, k)
				exact[k] = bigComplex{bigFloat(real(z)), bigFloat(-imag(z))}
			}
			exact = bigTransform(exact, turns)
			back := make([]float64, n)
			f.sequence(back, c)
			wrong, norm = 0, 0
			for j, v := range back {
				d, _ := bigDifference(bigQuotient(exact[j].re, bigFloat(float64(n))), bigFloat(v)).Float64()
				wrong += d * d
				norm += v * v
			}
			checkRounding(t, fmt.Sprintf("inverse of %s, %d points", name, n), math.Sqrt(wrong/norm), transformError(n))
		}
	}
}

// coefficient is number k of all n, of what dft.coefficients gives.
func coefficient(c []complex128, k int) complex128 {
	half := len(c) - 1
	switch {
	case k > half:
		z := coefficient(c, 2*half-k)
		return complex(real(z), -imag(z))
	case k == half:
		return c[half]
	}
	return c[reversed(k, bits(half))]
}

func testSequences(n int) map[string][]float64 {
	rng := rand.New(rand.NewSource(int64(n)))
	of := map[string][]float64{"random numbers": make([]float64, n), "a normal density": make([]float64, n), "alternating signs": make([]float64, n)}
	for j := range n {
		of["random numbers"][j] = rng.NormFloat64()
		z := 12 * (float64(j)/float64(n) - 0.5)
		of["a normal density"][j] = math.Exp(-z * z / 2)
		of["alternating signs"][j] = math.Copysign(1+rng.Float64(), float64(1-2*(j%2)))
	}
	return of
}

func checkRounding(t *testing.T, what string, got, bound float64) {
	t.Helper()
	t.Logf("%s: error %.3g, bound %.3g, %.0f times", what, got, bound, bound/got)
	if !(got <= bound) {
		t.Errorf("%s: error %.3g above the bound %.3g", what, got, bound)
	}
	if bound > tooLoose*got {
		t.Errorf("%s: bound %.3g is %.0f times the error %.3g", what, bound, bound/got, got)
	}
}

// The bound on the rounding errors of a convolution, against the same composition of
// the same masses with 200 bits.
func TestConvolutionNoise(t *testing.T) {
	t.Parallel()
	const n = 1024
	turns := bigTurns(n)
	remove := onLattice(pairs.Key{Kind: pairs.Remove, S: 1, Q: 0.01}.Build(), 1.0/32, -3, 1e-20, 1, true)
	rare := onLattice(pairs.Key{Kind: pairs.Add, S: 0.7, Q: 1e-5}.Build(), 1.0/32, -3, 1e-20, 1, false)
	gaussian := onLattice(pairs.NewGaussian(0.3), 1.0/32, -3, 1e-20, 1, true)
	for name, parts := range map[string][]repeatedLattice{
		"one loss":             {{gaussian, 1}},
		"a few":                {{gaussian, 5}},
		"a thousand":           {{remove, 1000}},
		"a million":            {{rare, 1000000}},
		"different":            {{remove, 300}, {gaussian, 2}, {rare, 50000}},
		"no coefficient large": {{onLattice(pairs.NewGaussian(4), 1.0/32, -9, 1e-20, 1, true), 1}},
	} {
		const theta = 3
		r := NewConvolution(n, len(parts))
		exact := make([]bigComplex, n)
		for k := range exact {
			exact[k] = bigComplex{bigFloat(1), bigFloat(0)}
		}
		for _, p := range parts {
			r.Add(p.Lattice, theta, p.count)
			w, _ := p.tilted(theta)
			center := 0
			for i, x := range w {
				if x > w[center] {
					center = i
				}
			}
			x := make([]bigComplex, n)
			for j := range x {
				x[j] = bigComplex{bigFloat(0), bigFloat(0)}
			}
			x[0].re = bigFloat(1)
			for i, m := range w {
				if i != center {
					j := Mod(i-center, n)
					x[j].re, x[0].re = bigSum(x[j].re, bigFloat(m)), bigDifference(x[0].re, bigFloat(m))
				}
			}
			for k, z := range bigTransform(x, turns) {
				exact[k] = exact[k].times(z.power(int64(p.count)))
			}
		}
		for k := range exact {
			exact[k] = exact[k].conjugate()
		}
		exact = bigTransform(exact, turns)
		wrong := 0.0
		for j, v := range r.Sequence(1) {
			d, _ := bigDifference(bigQuotient(exact[j].re, bigFloat(n)), bigFloat(v)).Float64()
			wrong += d * d
		}
		checkRounding(t, name, math.Sqrt(wrong), r.Noise)
	}
}

// Tilting and its normaliser against the same with 200 bits.
func TestTiltingError(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]*Lattice{
		"remove":   onLattice(pairs.Key{Kind: pairs.Remove, S: 1, Q: 0.01}.Build(), 1.0/32, -3, 1e-20, 1, true),
		"rare":     onLattice(pairs.Key{Kind: pairs.Remove, S: 0.5, Q: 1e-7}.Build(), 1.0/64, -3, 1e-30, 1, true),
		"gaussian": onLattice(pairs.NewGaussian(0.01), 1.0/4096, -1, 1e-20, 1, false),
	} {
		for _, partial := range []bool{false, true} {
			for _, theta := range []float64{0.3, 2, 40} {
				l.Partial = partial
				w, z := l.tilted(theta)
				sum, excess := bigFloat(0), bigFloat(-l.infinity-l.dropped)
				exact := make([]*big.Float, len(w))
				for i, m := range l.Mass {
					loss := bigSum(bigFloat(l.origin), bigProduct(bigFloat(float64(l.first+i)), bigFloat(l.H)))
					grow := bigExp(bigProduct(bigFloat(theta), loss))
					exact[i] = bigProduct(bigFloat(m), grow)
					sum = bigSum(sum, exact[i])
					excess = bigSum(excess, bigProduct(bigFloat(m), bigDifference(grow, bigFloat(1))))
				}
				total := sum
				if !partial { // as masses that are 1 in sum
					total = bigSum(excess, bigFloat(1))
				}
				ratio, _ := bigDifference(bigQuotient(bigExp(bigFloat(z.Log)), total), bigFloat(1)).Float64()
				what := fmt.Sprintf("%s, tilt %v, partial %v", name, theta, partial)
				massPart := massError // that of the masses, which are exact here
				if !partial {
					massPart = 0
					for i, m := range l.Mass {
						massPart += massError * m * math.Abs(math.Expm1(theta*(l.origin+float64(l.first+i)*l.H)))
					}
					massPart /= math.Exp(z.Log)
				}
				if partial || l.logMoment(theta) < numeric.SafeExponent {
					checkRounding(t, what+": normaliser", math.Max(math.Abs(ratio), numeric.Unit*math.Abs(z.Log)), z.Doubt-massPart)
				}
				worst := 0.0
				for i, x := range w {
					if x > 1e-300 {
						d, _ := bigDifference(bigQuotient(bigFloat(x), bigQuotient(exact[i], sum)), bigFloat(1)).Float64()
						worst = math.Max(worst, math.Abs(d))
					}
				}
				checkRounding(t, what+": masses", worst, z.relative)
			}
		}
	}
}

// Exponentials at equidistant points are wrong by at most 11u, near 0 and far from it, on
// fine and on coarse grids.
func TestGrowingError(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewSource(5))
	worst := map[string]float64{}
	for range 200 {
		// sums of these have no rounding
		d := math.Ldexp(float64(1+rng.Intn(1000)), -12-rng.Intn(12)) * float64(1-2*rng.Intn(2))
		from := float64(rng.Intn(2001)-1000) * d / 4
		at := func(i int) float64 { return from + float64(i)*d }
		less, whole := growth(d), growth(d)
		for i := range 3 * growthBlock {
			e := bigExp(bigFloat(at(i)))
			see := func(name string, got float64, want *big.Float) {
				off, _ := bigDifference(bigQuotient(bigFloat(got), want), bigFloat(1)).Float64()
				worst[name] = math.Max(worst[name], math.Abs(off)/numeric.Unit)
			}
			see("exp", whole.exp(i, at), e)
			if got := less.expm1(i, at); at(i) != 0 {
				see("expm1", got, bigDifference(e, bigFloat(1)))
			}
		}
	}
	for name, u := range worst {
		t.Logf("%s: %.2f u", name, u)
		if u > 11 {
			t.Errorf("%s is wrong by %.2f u", name, u)
		}
	}
}

// The functions of packages math and numeric are as precise as theorem 2 takes for granted: 4u.
func TestElementaryFunctions(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewSource(3))
	relative := func(got float64, want *big.Float) float64 {
		d, _ := bigDifference(bigQuotient(bigFloat(got), want), bigFloat(1)).Float64()
		return math.Abs(d) / numeric.Unit
	}
	worst := map[string]float64{}
	see := func(name string, u float64) { worst[name] = math.Max(worst[name], u) }
	for range 4000 {
		size := math.Exp(60*rng.Float64() - 40)
		x := size * (2*rng.Float64() - 1)
		if math.Abs(x) < 700 {
			e := bigExp(bigFloat(x))
			see("Exp", relative(math.Exp(x), e))
			see("Expm1", relative(math.Expm1(x), bigDifference(e, bigFloat(1))))
			see("numeric.Exp", relative(numeric.Exp(x), e))
			see("numeric.Expm1", relative(numeric.Expm1(x), bigDifference(e, bigFloat(1))))
		}
		// of a logarithm the error is that of e to its power
		if x > -1 && math.Abs(x) > 1e-30 {
			y := math.Log1p(x)
			see("Log1p", relative(1, bigQuotient(bigExp(bigFloat(y)), bigSum(bigFloat(1), bigFloat(x))))/math.Abs(y))
		}
		if y := math.Log(size); math.Abs(y) > 0.1 {
			see("Log", relative(1, bigQuotient(bigExp(bigFloat(y)), bigFloat(size)))/math.Abs(y))
		}
		sin, cos := math.Sincos(x)
		see("Sincos", bigExpI(bigFloat(x)).distance(complex(cos, sin))/numeric.Unit)
		y, z := rng.NormFloat64(), rng.NormFloat64()*size
		angle := math.Atan2(y, z)
		off, _ := bigExpI(bigFloat(angle)).times(bigComplex{bigFloat(z / math.Hypot(y, z)), bigFloat(-y / math.Hypot(y, z))}).im.Float64()
		see("Atan2", math.Abs(off)/numeric.Unit/math.Max(math.Abs(angle), 1e-300)-3) // of the division by Hypot
	}
	for name, u := range worst {
		t.Logf("%s: %.2f u", name, u)
		if u > 4 {
			t.Errorf("%s is wrong by %.2f u", name, u)
		}
	}
}
