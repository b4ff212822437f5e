package report

import (
	"fmt"
	"math"
	"strconv"

	"d3p/internal/privacy/accountant"
)

// The attackers of the report: false positive rates that a test of membership
// may have, and beliefs before the release.
var (
	falsePositives = [...]float64{0.001, 0.01, 0.05, 0.1}
	priors         = [...]float64{0.01, 0.1, 0.5}
)

// RiskOf is the success that a run's privacy curve allows an attacker who knows everything
// but whether one unit is in the data.
func RiskOf(whole *accountant.Curve) *Risk {
	r := &Risk{
		Method:    "the privacy curve of the whole run, which bounds every test of membership",
		Advantage: whole.Advantage(), TPRAtFPR: map[string]float64{},
	}
	for _, fpr := range falsePositives {
		r.TPRAtFPR[rateName(fpr)] = whole.TPR(fpr)
	}
	for _, prior := range priors {
		for _, fpr := range []float64{0.1, 0.01, 0.001} {
			r.Belief = append(r.Belief, Belief{prior, fpr, whole.Belief(prior, fpr)})
		}
	}
	for _, fpr := range tradeoffRates() {
		r.Tradeoff = append(r.Tradeoff, Rates{fpr, whole.Tradeoff(fpr)})
	}
	return r
}

// rateName is the key of a rate in TPRAtFPR.
func rateName(rate float64) string { return strconv.FormatFloat(rate, 'g', -1, 64) }

// tradeoffRates are the false positive rates of the trade-off curve: every
// hundredth, and more near 0.
func tradeoffRates() []float64 {
	rates := []float64{0, 0.0001, 0.0003, 0.001, 0.002, 0.005}
	for i := 1; i <= 100; i++ {
		rates = append(rates, float64(i)/100)
	}
	return rates
}

// truePositives is the largest true positive rate at a false positive rate that
// one guarantee allows: its trade-off is FNR >= max(0, 1 - delta - e^eps FPR,
// e^-eps (1 - delta - FPR)). Wasserman and Zhou 2010; Kairouz, Oh and
// Viswanath 2015, arXiv:1311.0776.
func truePositives(p Point, fpr float64) float64 {
	if fpr == 0 {
		return p.Delta // e^eps may be infinite
	}
	return 1 - max(0, 1-p.Delta-math.Exp(p.Epsilon)*fpr, math.Exp(-p.Epsilon)*(1-p.Delta-fpr))
}

// limits are the beliefs that a privacy loss allows.
func limits(loss float64) (list []Limit) {
	for _, prior := range priors {
		list = append(list, Limit{prior, belief(loss, prior)})
	}
	return list
}

// belief is the posterior probability from a prior one after an outcome of a
// privacy loss: p e^loss / (1 + p (e^loss - 1)).
func belief(loss, prior float64) float64 {
	return prior / (prior + (1-prior)*math.Exp(-loss))
}

// Odds is a sentence about it with numbers of people.
func Odds(r *Risk) string {
	return fmt.Sprintf("If an attacker accepts wrongly accusing 10 of 1000 people who are not in the data, then of 1000 people who are, this release lets them find at most %.0f; without the release, 10.",
		math.Ceil(1000*r.TPRAtFPR["0.01"]))
}
