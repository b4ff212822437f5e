package accountant

import (
	"math"

	"d3p/internal/privacy/event"
)

// MaxSteps is the largest number of steps, at most limit, for which the ledger
// that mechanism describes is certified to meet the target, and the
// certificate. The cost must not fall with the steps. *InfeasibleError when
// one step is too many.
func MaxSteps(t Target, rel event.Relation, limit int64, mechanism func(steps int64) event.Event) (int64, Answer, error) {
	if err := t.check(); err != nil {
		return 0, Answer{}, err
	}
	if ballsBatches(mechanism(1)) > 0 {
		return maxBallsSteps(t, rel, limit, mechanism)
	}
	logDelta := math.Log(t.Delta)
	var failed error
	meets := func(steps int64) bool {
		v, _, err := estimateLogDelta(mechanism(steps), rel, t)
		if err != nil && failed == nil {
			failed = err
		}
		return v <= logDelta
	}
	lo, hi := int64(0), int64(1) // lo meets, hi does not
	for hi <= limit && meets(hi) && failed == nil {
		lo, hi = hi, min(limit+1, hi*4)
		if lo == limit {
			break
		}
	}
	for hi-lo > 1 && failed == nil {
		if mid := lo + (hi-lo)/2; meets(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	if failed != nil {
		return 0, Answer{}, failed
	}
	// the bracket is wider than the estimate: step back until it certifies
	for back := int64(0); lo > 0; {
		a, err := answer(mechanism(lo), rel, t.group(), 2e-5, func(d *direction, width float64) (Direction, error) { return d.epsilon(t.Delta, width) })
		if err != nil {
			return 0, Answer{}, err
		}
		if a.Upper <= t.Epsilon {
			return lo, a, nil
		}
		back = max(1, 2*back, lo/50000)
		lo -= min(lo, back)
	}
	return 0, Answer{}, &InfeasibleError{
		Why:  "a single step already exceeds the target",
		Hint: "ask for a larger epsilon or delta, or use more noise or a smaller sampling rate",
	}
}

// Risk is an attacker who is acceptable: at false-positive rate FPR the
// true-positive rate is at most TPR.
type Risk struct{ TPR, FPR float64 }

// CalibrateRisk returns the smallest noise multiplier, to about 1e-4 relative
// and rounded up to 5 digits, for which no membership test at r.FPR has a
// true-positive rate above r.TPR, and the curve that shows it. Errors as in
// CalibrateNoise.
func CalibrateRisk(r Risk, rel event.Relation, mechanism func(sigma float64) event.Event) (float64, *Curve, error) {
	if !(r.FPR > 0 && r.FPR < 1) {
		return 0, nil, &InputError{Name: "false-positive rate", Value: r.FPR, Want: "a number in (0, 1)"}
	}
	if !(r.TPR < 1) || !(r.TPR >= 0) {
		return 0, nil, &InputError{Name: "true-positive rate", Value: r.TPR, Want: "a number in [0, 1)"}
	}
	if r.TPR <= r.FPR {
		return 0, nil, &InfeasibleError{
			Why:  "a true-positive rate not above the false-positive rate: a coin that ignores the data reaches that",
			Hint: "ask for a true-positive rate above the false-positive rate",
		}
	}
	// Only the stretch of the curve with δ near the rates decides.
	minDelta := 1e-4 * (r.TPR - r.FPR)
	var failed error
	tpr := func(sigma float64) float64 {
		c, err := newCurve(mechanism(sigma), rel, minDelta)
		if err != nil {
			if failed == nil {
				failed = err
			}
			return 1
		}
		return c.TPR(r.FPR)
	}
	goal := func(logSigma float64) float64 { return math.Log(r.TPR) - math.Log(tpr(math.Exp(logSigma))) }
	done := func(width float64) bool { return failed != nil || width < 2e-5 }
	logSigma, side := root(goal, math.Log(minNoise), 0, math.Log(maxNoise), done)
	if failed != nil {
		return 0, nil, failed
	}
	if side != 0 {
		why, hint := "no noise multiplier up to 1e7 meets the risk target", "allow a larger true-positive rate, or take fewer steps"
		if side > 0 {
			why, hint = "every noise multiplier down to 0.02 meets the risk target: the sampling alone gives it", "ask for less risk, or sample more"
		}
		return 0, nil, &InfeasibleError{Why: why, Hint: hint}
	}
	for margin := 0.0; margin < 0.01; margin = 2*margin + 1e-5 {
		sigma := roundUp(math.Exp(logSigma)*(1+margin), 5)
		c, err := newCurve(mechanism(sigma), rel, curveMinDelta)
		if err != nil {
			return 0, nil, err
		}
		if c.TPR(r.FPR) <= r.TPR {
			return sigma, c, nil
		}
	}
	return 0, nil, &InfeasibleError{Why: "the risk target could not be certified at this precision", Hint: "allow a slightly larger true-positive rate"}
}
