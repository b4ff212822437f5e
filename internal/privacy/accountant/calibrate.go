package accountant

import (
	"math"
	"reflect"

	"d3p/internal/privacy/event"
)

// Calibration is the smallest noise multiplier that meets a target.
type Calibration struct {
	// NoiseMultiplier has 7 significant digits, rounded up; at exactly this
	// value Certified.Upper is at most the target epsilon.
	NoiseMultiplier float64
	// Lower: at and below this noise multiplier the target is proven to be
	// missed. 0 when that could not be proven.
	Lower     float64
	Certified Answer
}

// The range of the search for a noise multiplier.
const (
	minNoise = 0.02
	maxNoise = 1e7
)

// CalibrateNoise returns the smallest noise multiplier, to 5e-5 relative, for
// which the ledger that mechanism describes is certified to be
// (t.Epsilon, t.Delta)-differentially private under rel. The cost must fall
// as the multiplier grows. Errors: *InputError, *UnsupportedError,
// *InfeasibleError when every or no multiplier in [0.02, 1e7] meets the target.
func CalibrateNoise(t Target, rel event.Relation, mechanism func(sigma float64) event.Event) (Calibration, error) {
	if err := t.check(); err != nil {
		return Calibration{}, err
	}
	// The price jumps where an epoch of balls-and-bins is only bounded without its
	// amplification. So the search uses Poisson sampling in its place, which costs nearly
	// the same; the certificate is about the mechanism that runs.
	standIn := func(sigma float64) event.Event { return withoutBalls(mechanism(sigma)) }
	if !reflect.DeepEqual(mechanism(1), standIn(1)) {
		if sigma, _, err := search(t, rel, standIn); err == nil {
			if c, err := certify(t, rel, mechanism, sigma, false); err == nil {
				return c, nil
			}
		}
	}
	sigma, precise, err := search(t, rel, mechanism)
	if err != nil {
		return Calibration{}, err
	}
	return certify(t, rel, mechanism, sigma, precise)
}

// search is the multiplier at which δ at the target's ε is the target's, by the fastest
// engines that apply; precise: it is right to nine digits.
func search(t Target, rel event.Relation, mechanism func(sigma float64) event.Event) (sigma float64, precise bool, err error) {
	var failed error
	precise = true
	// goal is increasing in log σ and positive where the target is met. For
	// Gaussian noise sqrt(-2 log δ) is nearly linear in σ.
	want := math.Sqrt(-2 * math.Log(t.Delta))
	goal := func(logSigma float64) float64 {
		logDelta, fine, err := estimateLogDelta(mechanism(math.Exp(logSigma)), rel, t)
		precise = precise && fine
		if err != nil && failed == nil {
			failed = err
		}
		return math.Sqrt(math.Max(0, -2*logDelta)) - want
	}
	done := func(width float64) bool {
		return failed != nil || width < 1e-9 || !precise && width < 1e-5
	}
	logSigma, side := root(goal, math.Log(minNoise), 0, math.Log(maxNoise), done)
	switch {
	case failed != nil:
		return 0, false, failed
	case side > 0:
		return 0, false, &InfeasibleError{
			Why:  "every noise multiplier down to 0.02 meets the target: it asks for almost no privacy",
			Hint: "ask for an epsilon of at most 10 and a delta below 1/N; d3p fit-nonprivate fits without noise",
		}
	case side < 0:
		return 0, false, &InfeasibleError{
			Why:  "no noise multiplier up to 1e7 meets the target",
			Hint: "ask for a larger epsilon or delta, or take fewer steps or a smaller sampling rate",
		}
	}
	return math.Exp(logSigma), precise, nil
}

// certify moves sigma, by secants on the upper bound, until the bracket engine proves the
// target and no more than 3e-5 of noise is wasted. precise: sigma is already right to
// nine digits.
func certify(t Target, rel event.Relation, mechanism func(sigma float64) event.Event, sigma float64, precise bool) (Calibration, error) {
	// A bracket of this width loses a third of it in epsilon, and that over the
	// slope of log epsilon in log sigma in the multiplier.
	slope := -1.0
	wanted := func() float64 { return math.Max(2e-5, math.Min(certifyWidth, -1e-5*slope)) }
	ask := func(d *direction, width float64) (Direction, error) { return d.epsilon(t.Delta, width) }
	var c Calibration
	steepest := -0.1 // where other steps decide the price, it hardly falls with the multiplier
	tried, last := roundUp(sigma*(1+1.5e-5), 7), Answer{}
	for n := range 8 {
		width := wanted()
		if n == 0 && !precise {
			width = certifyWidth // only to see where sigma is
		}
		a, err := answer(mechanism(tried), rel, t.group(), width, ask)
		if err != nil {
			return Calibration{}, err
		}
		if n > 0 && a.Upper > 0 && last.Upper > 0 && a.Upper != last.Upper {
			slope = math.Min(steepest, math.Log(a.Upper/last.Upper)/math.Log(tried/sigma))
			steepest /= 4
		}
		sigma, last = tried, a
		waste := math.Log(a.Upper/t.Epsilon) / slope // log of the factor by which sigma is too large
		if a.Upper <= t.Epsilon {
			if c.NoiseMultiplier == 0 || tried < c.NoiseMultiplier {
				c.NoiseMultiplier, c.Certified = tried, a
			}
			if n == 0 && precise || !(waste > 3e-5) || a.Upper == 0 {
				break
			}
		}
		next := roundUp(sigma*math.Exp(math.Max(-0.1, math.Min(0.1, -waste)))*(1+5e-6), 7)
		if next == tried || c.NoiseMultiplier > 0 && next >= c.NoiseMultiplier {
			break
		}
		tried = next
	}
	if c.NoiseMultiplier == 0 {
		return Calibration{}, &InfeasibleError{
			Why:  "the target could not be certified at this precision",
			Hint: "ask for a slightly larger epsilon",
		}
	}
	below := sigma * (1 - 5e-5)
	a, err := answer(mechanism(below), rel, t.group(), wanted(), ask)
	if err == nil && a.Lower > t.Epsilon {
		c.Lower = below
	}
	return c, err
}

// roundUp rounds x > 0 up to the given number of significant digits.
func roundUp(x float64, digits int) float64 {
	scale := math.Pow(10, float64(digits-1)-math.Floor(math.Log10(x)))
	up := math.Ceil(x*scale) / scale
	if up < x {
		up = (math.Ceil(x*scale) + 1) / scale
	}
	return up
}

// estimateLogDelta is log δ(ε) by the fastest engine that applies; precise is
// false when that is a coarse one.
func estimateLogDelta(ev event.Event, rel event.Relation, t Target) (v float64, precise bool, err error) {
	comp, err := compileGroup(ev, rel, t.group())
	if err != nil {
		return 0, false, err
	}
	v, precise = math.Inf(-1), true
	for _, d := range comp.directions {
		one, fine, err := d.estimateLogDelta(t.Epsilon)
		if err != nil {
			return 0, false, err
		}
		v = math.Max(v, one)
		precise = precise && fine
	}
	return v, precise, nil
}

// root finds x in [lo, hi] with f(x) = 0, f increasing, starting at start, until done
// reports a narrow interval. side is -1 when f < 0 on all of [lo, hi], +1 when f > 0.
func root(f func(float64) float64, lo, start, hi float64, done func(width float64) bool) (x float64, side int) {
	a, b := start, start
	fa := f(start)
	fb := fa
	for step := 1.0; fa > 0; step *= 2 { // walk down to a sign change
		if a == lo || done(math.Inf(1)) {
			return lo, 1
		}
		b, fb = a, fa
		a = math.Max(lo, a-step)
		fa = f(a)
	}
	for step := 1.0; fb < 0; step *= 2 {
		if b == hi || done(math.Inf(1)) {
			return hi, -1
		}
		a, fa = b, fb
		b = math.Min(hi, b+step)
		fb = f(b)
	}
	// Illinois: regula falsi that halves the weight of an end which stays.
	for n := 0; n < 200 && !done(b-a); n++ {
		x := (a*fb - b*fa) / (fb - fa)
		if n%3 == 2 || !(x > a && x < b) {
			x = a + (b-a)/2
		}
		fx := f(x)
		switch {
		case fx == 0:
			return x, 0
		case fx < 0:
			a, fa = x, fx
			fb /= 2
		default:
			b, fb = x, fx
			fa /= 2
		}
	}
	return b, 0
}
