package accountant

import (
	"math"

	"d3p/internal/privacy/event"
)

// leastRate ends the search for a sampling rate.
const leastRate = 1e-12

// MaxRate is the largest sampling rate, to 5 digits and rounded down, for which the
// ledger that mechanism describes is certified to meet the target, and the certificate.
// The cost must not fall with the rate. *InfeasibleError when the smallest one, 1e-12,
// is too much. The rate of balls-and-bins is one over a whole number of batches, at most
// 0.2 % more than are needed.
func MaxRate(t Target, rel event.Relation, mechanism func(rate float64) event.Event) (float64, Answer, error) {
	if err := t.check(); err != nil {
		return 0, Answer{}, err
	}
	if ballsBatches(mechanism(0.01)) > 0 {
		return maxBallsRate(t, rel, mechanism)
	}
	const digits = 5
	certify := func(rate, width float64) (Answer, error) {
		return answer(mechanism(rate), rel, t.group(), width, func(d *direction, width float64) (Direction, error) { return d.epsilon(t.Delta, width) })
	}
	want := math.Sqrt(-2 * math.Log(t.Delta))
	var failed error
	goal := func(log float64) float64 { // falls below 0 where the target is met
		v, _, err := estimateLogDelta(mechanism(math.Exp(log)), rel, t)
		if err != nil && failed == nil {
			failed = err
		}
		return want - math.Sqrt(math.Max(0, -2*v))
	}
	log, side := root(goal, math.Log(leastRate), math.Log(0.01), 0, func(width float64) bool { return failed != nil || width < 1e-6 })
	switch {
	case failed != nil:
		return 0, Answer{}, failed
	case side > 0:
		return 0, Answer{}, &InfeasibleError{Why: "no sampling rate down to 1e-12 meets the target", Hint: "ask for a larger epsilon or delta, add noise, or take fewer steps"}
	}
	rate := 1.0
	if side == 0 {
		rate = roundDown(math.Exp(log), digits)
	}
	var low, high float64 // the largest rate that is certified, the least that is not
	var met Answer        // for low
	try := func(rate, width float64) error {
		a, err := certify(rate, width)
		switch {
		case err != nil:
			return err
		case a.Upper <= t.Epsilon:
			low, met = rate, a
		default:
			high = rate
		}
		return nil
	}
	const least, most, near = 1e-4, 2, 1e-3 // margins between rates, and of a rate that is good enough
	const wide, narrow = 3e-4, 2e-5         // widths of brackets
	if err := try(rate, narrow); err != nil {
		return 0, Answer{}, err
	}
	for margin := least; low == 0; margin *= 2 {
		if margin > 0.1 {
			return 0, Answer{}, &InfeasibleError{Why: "no sampling rate near the solution could be certified", Hint: "ask for a slightly larger epsilon"}
		}
		if err := try(roundDown(high*(1-margin), digits), narrow); err != nil {
			return 0, Answer{}, err
		}
	}
	first := low
	for margin := least; high == 0 && low < 1 && met.Upper <= t.Epsilon*(1-near) && margin <= most; margin *= 2 { // the estimate was rough
		if met.Upper > t.Epsilon/2 { // the cost grows about as the rate does
			margin = math.Max(margin, 0.8*(t.Epsilon/met.Upper-1))
		}
		if err := try(math.Min(1, roundDown(low*(1+margin), digits)), wide); err != nil {
			return 0, Answer{}, err
		}
	}
	for high > low*(1+near) {
		if err := try(roundDown(math.Sqrt(low*high), digits), wide); err != nil {
			return 0, Answer{}, err
		}
	}
	if low > first { // by a wide bracket
		if err := try(low, narrow); err != nil {
			return 0, Answer{}, err
		}
	}
	return low, met, nil
}

// roundDown rounds x > 0 down to the given number of significant digits.
func roundDown(x float64, digits int) float64 {
	scale := math.Pow(10, float64(digits-1)-math.Floor(math.Log10(x)))
	down := math.Floor(x*scale) / scale
	if down > x {
		down = (math.Floor(x*scale) - 1) / scale
	}
	return down
}
