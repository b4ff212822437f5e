package accountant

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
)

// pure answers for delta 0: the sum of the largest losses, which one outcome of all
// steps has together. *InfeasibleError where some loss has no largest value.
func (comp *composition) pure() (Answer, error) {
	a := Answer{Engine: engineExact, Certified: true, Notes: comp.notes}
	for _, d := range comp.directions {
		upper, exact, err := d.largestLoss()
		if err != nil {
			return Answer{}, err
		}
		one := Direction{Name: d.name, Engine: engineExact, Lower: upper, Estimate: upper, Upper: upper}
		if !exact {
			one.Lower = upper * (1 - 1e-13)
		}
		a.Directions = append(a.Directions, one)
		a.Lower, a.Estimate, a.Upper = math.Max(a.Lower, one.Lower), math.Max(a.Estimate, one.Estimate), math.Max(a.Upper, one.Upper)
	}
	return a, nil
}

// largestLoss is the largest loss of the direction, rounded up, and reports whether it is
// exact.
func (d *direction) largestLoss() (sum float64, exact bool, err error) {
	exact = !d.rounded || len(d.Parts) == 0
	unbounded := func(what string) error {
		return &InfeasibleError{
			Why:  "no epsilon holds at delta 0: the losses of " + what + " have no largest value",
			Hint: "ask at a delta above 0, as in --delta 1e-6",
		}
	}
	switch {
	case d.Mu2 > 0:
		return 0, false, unbounded("Gaussian noise")
	case d.noDP != 0:
		return 0, false, &InfeasibleError{Why: "no epsilon holds at delta 0: an (epsilon, delta) step of the ledger has a delta of its own", Hint: "ask at a delta above that"}
	}
	for _, p := range d.Parts {
		count := float64(p.Count)
		var loss, short float64 // short: the exact loss less the rounded one
		switch p.Key.Kind {
		case pairs.Laplace:
			loss = count / p.Key.S
			short = math.FMA(-loss, p.Key.S, count)
		case pairs.BlackBox:
			loss = count * p.Key.S
			short = math.FMA(count, p.Key.S, -loss)
		default:
			if p.Key.Kind == pairs.Discrete {
				return 0, false, unbounded("discrete Gaussian noise")
			}
			return 0, false, unbounded("Gaussian noise")
		}
		exact = exact && short == 0
		if d.rounded {
			loss *= 1 + 4*numeric.Unit
		} else if short > 0 {
			loss = math.Nextafter(loss, math.Inf(1))
		}
		total := numeric.Sum{Sum: sum}
		total.Add(loss)
		exact = exact && total.Rest == 0
		if sum = total.Sum; total.Rest > 0 {
			sum = math.Nextafter(sum, math.Inf(1))
		}
	}
	return sum, exact, nil
}
