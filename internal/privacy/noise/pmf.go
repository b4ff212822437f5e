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

// exactlyBelow reports whether u is below pmf(k)/pmf(mode)/(weight·unit).
func (f *pmf) exactlyBelow(u *fraction, k, weight uint64, unit float64) bool {
	return u.below(func(prec uint) *big.Float {
		r := f.exactRatio(k, prec)
		return r.Quo(r, exact(unit, prec)).Quo(r, new(big.Float).SetUint64(weight))
	})
}

// exactRatio is pmf(k)/pmf(mode) with a relative error below 2^(50-prec), the
// product of the ratios of neighbouring probabilities, see next.
func (f *pmf) exactRatio(k uint64, prec uint) *big.Float {
	num, den := exact(1, prec), exact(1, prec)
	p, q := f.odds(prec)
	factor := new(big.Float)
	for j := min(k, f.mode) + 1; j <= max(k, f.mode); j++ {
		num.Mul(num, factor.SetUint64(f.n-j+1)).Mul(num, p)
		den.Mul(den, factor.SetUint64(j)).Mul(den, q)
	}
	if k < f.mode {
		num, den = den, num
	}
	return num.Quo(num, den)
}

// tailSum returns Σ pmf(j)/pmf(mode)/(unit·width) over j from `from`, beyond the steps, to k,
// away from the mode.
func (f *pmf) tailSum(from, k uint64, unit float64, width uint64) func(prec uint) *big.Float {
	return func(prec uint) *big.Float {
		p, q := f.odds(prec)
		term := f.exactRatio(from, prec)
		sum := new(big.Float).Copy(term)
		up, down := new(big.Float), new(big.Float)
		for j := from; j != k; {
			// pmf(j+1)/pmf(j) = (n-j)p / ((j+1)(1-p)), and pmf(j-1)/pmf(j) its inverse at j-1
			if k > from {
				term.Mul(term, up.SetUint64(f.n-j)).Mul(term, p).Quo(term, down.SetUint64(j+1)).Quo(term, q)
				j++
			} else {
				term.Mul(term, up.SetUint64(j)).Mul(term, q).Quo(term, down.SetUint64(f.n-j+1)).Quo(term, p)
				j--
			}
			sum.Add(sum, term)
			if new(big.Float).SetMantExp(term, int(prec)).Cmp(sum) <= 0 {
				break // terms fall: those that are left are below 2^(40-prec) of the sum
			}
		}
		return sum.Quo(sum, exact(unit, prec)).Quo(sum, up.SetUint64(width))
	}
}

// odds are p and 1-p.
func (f *pmf) odds(prec uint) (p, q *big.Float) {
	p = exact(f.p, prec)
	return p, new(big.Float).SetPrec(prec).Sub(exact(1, prec), p)
}

func exact(x float64, prec uint) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

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
