package noise

import (
	"math"
	"math/big"
	"sort"
)

// pmf is the probability mass function of Binomial(n, p), p <= 1/2, relative
// to its value at the mode.
type pmf struct {
	n       uint64
	p       float64
	mode    uint64
	logMode float64 // log pmf(mode)
	slack   float64 // bound of the relative error of ratio
}

func newPMF(n uint64, p float64) pmf {
	f := pmf{n: n, p: p}
	f.mode = min(n, uint64((float64(n)+1)*p))
	f.logMode = f.log(f.mode)
	// The deviances inherit the rounding of n·p times the distance from the
	// mean, at most 12 standard deviations + 60 where ratio >= 2^-80; the rest
	// is a few hundred roundings. The tests compare with 192-bit arithmetic.
	f.slack = 0x1p-50 * (128 + 12*math.Sqrt(float64(n)*p))
	return f
}

// ratio returns pmf(k)/pmf(mode), where that is at least 2^-80 with a relative
// error below slack.
func (f *pmf) ratio(k uint64) float64 {
	return math.Exp(f.log(k) - f.logMode)
}

// log returns log pmf(k) in the saddle-point form of Loader 2000, "Fast and
// accurate computation of binomial probabilities", in which nothing large
// cancels.
func (f *pmf) log(k uint64) float64 {
	n, x, y := float64(f.n), float64(k), float64(f.n-k)
	switch {
	case k == 0:
		return n * math.Log1p(-f.p)
	case k == f.n:
		return n * math.Log(f.p)
	}
	return stirlingError(n) - stirlingError(x) - stirlingError(y) -
		deviance(x, n*f.p) - deviance(y, n*(1-f.p)) + 0.5*math.Log(n/x/y/(2*math.Pi))
}

// support returns the smallest and the largest k where pmf(k)/pmf(mode) is at
// least exp(cutoff).
func (f *pmf) support(cutoff float64) (first, last uint64) {
	outside := func(k uint64) bool { return f.log(k)-f.logMode < cutoff }
	first = f.mode - uint64(sort.Search(int(f.mode), func(d int) bool { return outside(f.mode - uint64(d) - 1) }))
	last = f.mode + uint64(sort.Search(int(f.n-f.mode), func(d int) bool { return outside(f.mode + uint64(d) + 1) }))
	return first, last
}

// exactlyBelow reports whether v/2^64, and 64 more bits from s where v does not
// decide, is below pmf(k)/pmf(mode)/(weight·unit), which it computes with a relative
// error below 2^-150: the ratio is the product of the ratios of neighbouring
// probabilities, pmf(j)/pmf(j-1) = (n-j+1)p / (j(1-p)).
func (f *pmf) exactlyBelow(v, k, weight uint64, unit float64, s *Stream) bool {
	left := exact(unit)
	left.Mul(left, new(big.Float).SetUint64(weight))
	right := exact(0x1p64)
	p := exact(f.p)
	q := exact(1)
	q.Sub(q, p)
	lo, hi := f.mode, k
	if k < f.mode { // 1/ratio is the product: it goes to the other side
		left, right = right, left
		lo, hi = k, f.mode
	}
	factor := exact(0)
	for j := lo + 1; j <= hi; j++ {
		right.Mul(right, factor.SetUint64(f.n-j+1)).Mul(right, p)
		left.Mul(left, factor.SetUint64(j)).Mul(left, q)
	}
	if k < f.mode {
		left, right = right, left
	}
	rest := right.Quo(right, left)
	rest.Sub(rest, exact(0).SetUint64(v)) // of the threshold, in units of 2^-64
	if rest.Sign() <= 0 || rest.Cmp(exact(1)) >= 0 {
		return rest.Sign() > 0
	}
	return exact(0).SetUint64(s.Uint64()).Cmp(rest.Mul(rest, exact(0x1p64))) < 0
}

func exact(x float64) *big.Float { return new(big.Float).SetPrec(192).SetFloat64(x) }

// deviance returns x log(x/mean) + mean - x, without cancellation where x is
// near the mean (Loader's bd0).
func deviance(x, mean float64) float64 {
	if math.Abs(x-mean) > 0.5*(x+mean) {
		return x*math.Log(x/mean) + mean - x
	}
	v := (x - mean) / (x + mean)
	sum := (x - mean) * v
	term := 2 * x * v
	for j := 3.0; ; j += 2 {
		term *= v * v
		next := sum + term/j
		if next == sum {
			return sum
		}
		sum = next
	}
}

// stirlingError returns log x! - (x + 1/2) log x + x - log(2π)/2 for a whole
// number x >= 1.
func stirlingError(x float64) float64 {
	if x < float64(len(smallStirling)) {
		return smallStirling[int(x)]
	}
	r := 1 / (x * x)
	return (1.0/12 - (1.0/360-(1.0/1260-(1.0/1680-1.0/1188*r)*r)*r)*r) / x
}

// smallStirling holds stirlingError of 1 to 15, from mpmath with 40 digits.
var smallStirling = [16]float64{
	0,
	0.0810614667953272582,
	0.0413406959554092941,
	0.0276779256849983391,
	0.0207906721037650931,
	0.0166446911898211922,
	0.013876128823070748,
	0.0118967099458917701,
	0.0104112652619720965,
	0.00925546218271273292,
	0.00833056343336287126,
	0.00757367548795184079,
	0.00694284010720952987,
	0.00640899418800420707,
	0.00595137011275884774,
	0.00555473355196280137,
}
