package accountant

import (
	"math"

	"d3p/internal/privacy/event"
)

// The solvers below are about mechanisms with balls-and-bins. At the target's epsilon a
// mechanism that costs far less has a delta that is too small to be computed, so these
// search with Poisson sampling in its place, which costs nearly the same, and then with
// certificates of epsilon at the target's delta.

// withoutBalls is the event with every epoch of balls-and-bins as Poisson steps
// of the same rate.
func withoutBalls(ev event.Event) event.Event {
	switch e := ev.(type) {
	case event.SelfComposed:
		return event.SelfComposed{Of: withoutBalls(e.Of), Count: e.Count}
	case event.Composed:
		c := event.Composed{}
		for _, of := range e.Events {
			c.Events = append(c.Events, withoutBalls(of))
		}
		return c
	case event.BallsAndBins:
		m := max(1, e.Batches)
		return event.SelfComposed{Of: event.PoissonSampled{Rate: 1 / float64(m), Of: e.Of}, Count: int64(m)}
	}
	return ev
}

// ballsBatches is the number of batches of an epoch of balls-and-bins in the event, or 0.
func ballsBatches(ev event.Event) int64 {
	switch e := ev.(type) {
	case event.SelfComposed:
		return ballsBatches(e.Of)
	case event.Composed:
		for _, of := range e.Events {
			if m := ballsBatches(of); m > 0 {
				return m
			}
		}
	case event.BallsAndBins:
		return int64(max(1, e.Batches))
	}
	return 0
}

// maxBallsRate is MaxRate with balls-and-bins.
func maxBallsRate(t Target, rel event.Relation, mechanism func(rate float64) event.Event) (float64, Answer, error) {
	guess, _, err := MaxRate(t, rel, func(rate float64) event.Event { return withoutBalls(mechanism(rate)) })
	if err != nil {
		return 0, Answer{}, err
	}
	batches := int64(math.Ceil(1 / guess))
	m, a, err := smallest(t, integers{guess: batches, least: 1, most: int64(1 / leastRate), step: max(1, batches/64), near: max(1, batches/500)}, func(m int64) (Answer, error) {
		return certificate(mechanism(1/float64(m)), rel, t)
	})
	if err == nil && m == 0 {
		err = &InfeasibleError{Why: "no sampling rate down to 1e-12 meets the target", Hint: "ask for a larger epsilon or delta, add noise, or take fewer steps"}
	}
	return 1 / float64(m), a, err
}

// maxBallsSteps is MaxSteps with balls-and-bins, for whole epochs: of an incomplete one all
// batches count.
func maxBallsSteps(t Target, rel event.Relation, limit int64, mechanism func(steps int64) event.Event) (int64, Answer, error) {
	batches := ballsBatches(mechanism(1))
	guess, _, err := MaxSteps(t, rel, limit, func(steps int64) event.Event { return withoutBalls(mechanism(steps)) })
	if err != nil {
		return 0, Answer{}, err
	}
	most, epochs := max(1, limit/batches), max(1, guess/batches)
	// the cost falls with the epochs that are left out
	left, a, err := smallest(t, integers{guess: most - epochs + 1, least: 1, most: most, step: max(1, epochs/8), near: 1}, func(left int64) (Answer, error) {
		return certificate(mechanism((most-left+1)*batches), rel, t)
	})
	if err == nil && left == 0 {
		err = &InfeasibleError{Why: "a single epoch already exceeds the target", Hint: "ask for a larger epsilon or delta, or use more noise or more batches"}
	}
	return (most - left + 1) * batches, a, err
}

// certificate is the certified epsilon at the target's delta.
func certificate(ev event.Event, rel event.Relation, t Target) (Answer, error) {
	return answer(ev, rel, t.group(), certifyWidth, func(d *direction, width float64) (Direction, error) { return d.epsilon(t.Delta, width) })
}

// integers searches a solution from the guess by steps that double, until it is known to
// `near`.
type integers struct{ guess, least, most, step, near int64 }

// smallest is the smallest integer whose certificate meets the target, and that
// certificate. The cost falls with the integer. 0 if none meets it.
func smallest(t Target, in integers, certify func(k int64) (Answer, error)) (k int64, best Answer, err error) {
	lo, hi := in.least-1, in.most+1 // neither is tried
	k = min(in.most, in.guess)
	for step := in.step; ; step *= 2 {
		a, err := certify(k)
		if err != nil {
			return 0, Answer{}, err
		}
		if a.Upper <= t.Epsilon {
			hi, best = k, a
		} else {
			lo = k
		}
		switch {
		case hi-lo <= in.near && hi <= in.most:
			return hi, best, nil
		case lo == in.most:
			return 0, Answer{}, nil
		case hi > in.most:
			k = min(in.most, k+step)
		case lo < in.least:
			k = max(in.least, k-step)
		default:
			k = lo + (hi-lo)/2
		}
	}
}
