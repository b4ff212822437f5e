package report

import (
	"fmt"
	"math"
	"strconv"
)

// RiskOf says what (epsilon, delta) alone allows an attacker; a run's own curve
// allows less. The trade-off is FNR >= max(0, 1 - delta - e^eps FPR,
// e^-eps (1 - delta - FPR)). Wasserman and Zhou 2010; Kairouz, Oh and Viswanath
// 2015, arXiv:1311.0776.
func RiskOf(epsilon, delta float64) *Risk {
	r := &Risk{
		Method:    "the region of (epsilon, delta)",
		Advantage: (math.Expm1(epsilon) + 2*delta) / (math.Exp(epsilon) + 1),
		TPRAtFPR:  map[string]float64{},
	}
	if math.IsNaN(r.Advantage) || r.Advantage > 1 { // e^epsilon overflows
		r.Advantage = 1
	}
	for _, fpr := range []float64{0.001, 0.01, 0.05, 0.1} {
		r.TPRAtFPR[strconv.FormatFloat(fpr, 'g', -1, 64)] = truePositives(epsilon, delta, fpr)
	}
	for _, prior := range []float64{0.01, 0.1, 0.5} {
		r.Belief = append(r.Belief, Belief{prior, belief(epsilon, prior)})
	}
	return r
}

// truePositives is the largest true positive rate at a false positive rate.
func truePositives(epsilon, delta, fpr float64) float64 {
	fnr := max(0, 1-delta-math.Exp(epsilon)*fpr, math.Exp(-epsilon)*(1-delta-fpr))
	return 1 - fnr
}

// belief is the largest posterior probability from a prior one, under pure
// epsilon: p e^eps / (1 + p (e^eps - 1)).
func belief(epsilon, prior float64) float64 {
	return prior / (prior + (1-prior)*math.Exp(-epsilon))
}

// odds is the sentence that says it in people.
func odds(epsilon, delta float64) string {
	return fmt.Sprintf("If an attacker accepts wrongly accusing 10 of 1000 people who are not in the data, then of 1000 people who are, this release lets them find at most %.0f; without the release, 10.",
		math.Ceil(1000*truePositives(epsilon, delta, 0.01)))
}
