package family

import (
	"d3p/internal/models/support"
	"math"
)

// DrawGamma is a gamma with the given shape and rate 1. Marsaglia and Tsang
// 2000, "A simple method for generating gamma variables", ACM TOMS 26; below
// shape 1 by their boost G(a) = G(a+1) U^(1/a), in logs so that a small shape
// does not round to 0 early.
func DrawGamma(shape float64, rng Rand) float64 {
	return math.Exp(DrawLogGamma(shape, rng))
}

// DrawLogGamma is the logarithm of a gamma variable of rate 1. It is NaN for a shape that
// is negative or not finite, whose proposals would all be rejected.
func DrawLogGamma(shape float64, rng Rand) float64 {
	if !(shape >= 0 && shape <= math.MaxFloat64) {
		return math.NaN()
	}
	if shape < 1 {
		return DrawLogGamma(shape+1, rng) + math.Log1p(-rng.Uniform())/shape
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.Normal()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		logV := 3 * math.Log(v)
		if math.Log1p(-rng.Uniform()) < 0.5*x*x+d-d*math.Exp(logV)+d*logV {
			return math.Log(d) + logV
		}
	}
}

// DrawBeta is a beta variable, as a ratio of gammas taken in logs.
func DrawBeta(a, b float64, rng Rand) float64 {
	x, y := DrawLogGamma(a, rng), DrawLogGamma(b, rng)
	return 1 / (1 + math.Exp(y-x))
}

// DrawPoisson counts arrivals of rate 1 up to the mean; a large mean is first
// cut by the time of an arrival in its middle. Ahrens and Dieter 1974,
// Computing 12, 223-246, algorithm PG.
func DrawPoisson(mean float64, rng Rand) float64 {
	if !(mean < math.MaxFloat64) {
		return math.NaN()
	}
	count := 0.0
	for mean > 15 {
		m := math.Floor(mean * 7 / 8)
		at := DrawGamma(m, rng)
		if at > mean {
			return count + DrawBinomial(m-1, mean/at, rng)
		}
		count += m
		mean -= at
	}
	for at := DrawExponential(rng); at < mean; at += DrawExponential(rng) {
		count++
	}
	return count
}

// DrawBinomial counts the successes in n trials; many trials are first halved
// by their median order statistic, a beta variable. Ahrens and Dieter 1974,
// algorithm BB. NaN of a number of trials that is not finite.
func DrawBinomial(n, p float64, rng Rand) float64 {
	if !(math.Abs(n) <= math.MaxFloat64) {
		return math.NaN()
	}
	count := 0.0
	for n > 15 {
		a := 1 + math.Floor(n/2)
		at := DrawBeta(a, n+1-a, rng)
		if at <= p {
			count += a
			n -= a
			p = (p - at) / (1 - at)
		} else {
			n = a - 1
			p /= at
		}
	}
	for range int(n) {
		if rng.Uniform() < p {
			count++
		}
	}
	return count
}

// DrawIndex is an index with probability proportional to its weight.
func DrawIndex(weights []float64, rng Rand) int {
	u := rng.Uniform() * support.Sum(weights)
	for i, w := range weights {
		if u < w {
			return i
		}
		u -= w
	}
	return len(weights) - 1
}

// DrawLogarithmic has the law p^k / (−k log(1−p)), k = 1, 2, ... Kemp 1981, "Efficient
// generation of logarithmically distributed pseudo-random variables", JRSS C 30, method LS.
func DrawLogarithmic(p float64, rng Rand) float64 {
	v := rng.Uniform()
	if !(v < p) {
		return 1
	}
	q := -math.Expm1(rng.Uniform() * math.Log1p(-p))
	if v <= 0 || q <= 0 {
		return 1
	}
	return math.Floor(1 + math.Log(v)/math.Log(q))
}

// RejectionTries bounds the rejections of one draw. Draws practically never miss an interval
// of mass 1 %; a third of them miss one of mass 0.1 %. A prior with hardly any mass in the
// interval fails within seconds.
const RejectionTries = 1000

// DrawExponential is a waiting time of rate 1; Uniform is below 1, so it is
// finite.
func DrawExponential(rng Rand) float64 { return -math.Log1p(-rng.Uniform()) }
