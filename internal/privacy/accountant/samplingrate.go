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
	rate, err := estimateRate(t, rel, mechanism)
	if err != nil {
		return 0, Answer{}, err
	}
	s := rateSearch{epsilon: t.Epsilon, certify: func(rate, width float64) (Answer, error) {
		return answer(mechanism(rate), rel, t.group(), width, func(d *direction, width float64) (Direction, error) { return d.epsilon(t.Delta, width) })
	}}
	if err := s.fall(rate); err != nil {
		return 0, Answer{}, err
	}
	first := s.low
	if err := s.rise(); err != nil {
		return 0, Answer{}, err
	}
	for s.high > s.low*(1+rateNear) {
		if err := s.try(roundDown(math.Sqrt(s.low*s.high), rateDigits), rateWide); err != nil {
			return 0, Answer{}, err
		}
	}
	if s.low > first { // by a wide bracket
		if err := s.try(s.low, rateNarrow); err != nil {
			return 0, Answer{}, err
		}
	}
	return s.low, s.met, nil
}

// estimateRate is about the largest rate that meets the target.
func estimateRate(t Target, rel event.Relation, mechanism func(rate float64) event.Event) (float64, error) {
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
		return 0, failed
	case side > 0:
		return 0, &InfeasibleError{Why: "no sampling rate down to 1e-12 meets the target", Hint: "ask for a larger epsilon or delta, add noise, or take fewer steps"}
	case side == 0:
		return roundDown(math.Exp(log), rateDigits), nil
	}
	return 1, nil
}

const (
	rateDigits           = 5    // of a rate
	leastMargin          = 1e-4 // between two rates
	mostMargin           = 2
	rateNear             = 1e-3       // margin of a rate that is good enough
	rateWide, rateNarrow = 3e-4, 2e-5 // widths of brackets
)

// A rateSearch narrows the interval that has the largest rate that meets epsilon.
type rateSearch struct {
	certify   func(rate, width float64) (Answer, error)
	epsilon   float64
	low, high float64 // the largest rate that is certified, the least that is not; 0 until one is found
	met       Answer  // for low
}

func (s *rateSearch) try(rate, width float64) error {
	a, err := s.certify(rate, width)
	switch {
	case err != nil:
		return err
	case a.Upper <= s.epsilon:
		s.low, s.met = rate, a
	default:
		s.high = rate
	}
	return nil
}

// fall lowers the rate until it is certified.
func (s *rateSearch) fall(rate float64) error {
	if err := s.try(rate, rateNarrow); err != nil {
		return err
	}
	for margin := leastMargin; s.low == 0; margin *= 2 {
		if margin > 0.1 {
			return &InfeasibleError{Why: "no sampling rate near the solution could be certified", Hint: "ask for a slightly larger epsilon"}
		}
		if err := s.try(roundDown(s.high*(1-margin), rateDigits), rateNarrow); err != nil {
			return err
		}
	}
	return nil
}

// rise raises the rate until it is not certified, if the estimate was rough.
func (s *rateSearch) rise() error {
	for margin := leastMargin; s.high == 0 && s.low < 1 && s.met.Upper <= s.epsilon*(1-rateNear) && margin <= mostMargin; margin *= 2 {
		if s.met.Upper > s.epsilon/2 { // the cost grows about as the rate does
			margin = math.Max(margin, 0.8*(s.epsilon/s.met.Upper-1))
		}
		if err := s.try(math.Min(1, roundDown(s.low*(1+margin), rateDigits)), rateWide); err != nil {
			return err
		}
	}
	return nil
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
