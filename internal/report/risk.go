package report

import (
	"fmt"
	"math"
	"strconv"
)

// RiskOf says what the guarantees in curve, all of which hold, allow an attacker
// together; claim is the one that is published. Of each number the smallest
// bound counts. The trade-off of one (epsilon, delta) is FNR >= max(0,
// 1 - delta - e^eps FPR, e^-eps (1 - delta - FPR)). Wasserman and Zhou 2010;
// Kairouz, Oh and Viswanath 2015, arXiv:1311.0776.
func RiskOf(claim Point, curve []Point) *Risk {
	r := &Risk{
		Method:    "certified points of the privacy curve of the whole run",
		Advantage: 1, TPRAtFPR: map[string]float64{},
	}
	for _, p := range append([]Point{claim}, curve...) {
		r.Advantage = min(r.Advantage, advantage(p))
	}
	for _, fpr := range []float64{0.001, 0.01, 0.05, 0.1} {
		r.TPRAtFPR[strconv.FormatFloat(fpr, 'g', -1, 64)] = truePositives(claim, curve, fpr)
	}
	for _, prior := range []float64{0.01, 0.1, 0.5} {
		r.Belief = append(r.Belief, Belief{prior, belief(claim.Epsilon, prior)})
	}
	return r
}

// advantage is the largest true minus false positive rate under one guarantee:
// (e^eps - 1 + 2 delta)/(e^eps + 1).
func advantage(p Point) float64 {
	return math.Tanh(p.Epsilon/2) + 2*p.Delta/(math.Exp(p.Epsilon)+1)
}

// truePositives is the largest true positive rate at a false positive rate.
func truePositives(claim Point, curve []Point, fpr float64) float64 {
	most := 1.0
	for _, p := range append([]Point{claim}, curve...) {
		fnr := max(0, 1-p.Delta-math.Exp(p.Epsilon)*fpr, math.Exp(-p.Epsilon)*(1-p.Delta-fpr))
		most = min(most, 1-fnr)
	}
	return most
}

// belief is the largest posterior probability from a prior one, under pure
// epsilon: p e^eps / (1 + p (e^eps - 1)).
func belief(epsilon, prior float64) float64 {
	return prior / (prior + (1-prior)*math.Exp(-epsilon))
}

// odds is the sentence that says it in people.
func odds(r *Risk) string {
	return fmt.Sprintf("If an attacker accepts wrongly accusing 10 of 1000 people who are not in the data, then of 1000 people who are, this release lets them find at most %.0f; without the release, 10.",
		math.Ceil(1000*r.TPRAtFPR["0.01"]))
}
