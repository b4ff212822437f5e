package accountant

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// objectiveCells are the cells of a comparison of two curves, and objectiveMargin the first part
// of μ that is given up for it.
const objectiveCells, objectiveMargin = 500, 2e-3

// ObjectiveMu is the μ of b for which the exact minimum φ of a strongly convex G(φ) + b·φ is
// total-Gaussian differentially private: b is normal with standard deviation C/μ, and a record adds
// to G a function of a·φ with slopes of one sign, of at most C in length, and multiplies the
// determinant of the curvature of G by a factor from 1 to ratio. 0: there is none.
//
// φ has the density N(−G′(φ))·det G″(φ). Where G′ becomes G′ + c·u, u a fixed unit vector and
// 0 ≤ c ≤ C, the loss is, with t the part of b along u, at most the greater of c = 0 and c = C,
// which it is convex in: max(0, L), L that of the Gaussian mechanism with μ; and ℓ = log ratio
// more when the record comes. So both δ(ε) are at most δ_μ(max(0, ε − ℓ)): below ℓ because a
// total variation has no direction. Compare Redberg, Koskela and Wang 2023, arXiv:2401.00583,
// who have twice it for slopes of any sign.
//
// That is at most δ_total(ε) for all ε if it is for ε from ℓ, where it ends being constant, to
// where, with the same normal number in both, the loss of total is the greater in all of the tail.
func ObjectiveMu(total, ratio float64) float64 {
	shift := math.Log(ratio) * (1 + 1e-12)
	mu := objectiveMost(total, shift)
	for range 100 {
		mu *= 1 - objectiveMargin
		if covers(total, mu, shift) {
			return mu
		}
	}
	return 0
}

// objectiveMost is the μ with δ_μ(0) = δ_total(shift).
func objectiveMost(total, shift float64) float64 {
	most := gaussianDelta(total, shift/total-total/2)
	return numeric.Bisect(0, total, func(mu float64) bool { return mu > 0 && gaussianDelta(mu, -mu/2) >= most })
}

// covers reports whether δ_total(ε) ≥ δ_mu(ε − shift) for all ε ≥ shift.
func covers(total, mu, shift float64) bool {
	if !(mu > 0 && mu < total) {
		return false
	}
	z := (shift - (total*total-mu*mu)/2) / (total - mu)
	end := max(0, mu*(z+mu/2)) * (1 + 1e-9)
	at := func(cell int) float64 { return end * float64(cell) / objectiveCells }
	// both curves fall, so a run of cells is covered if its two ends are
	var within func(first, last int) bool
	within = func(first, last int) bool {
		low, high := at(first), at(last)
		if gaussianDelta(mu, low/mu-mu/2)*(1+1e-9) <= gaussianDelta(total, (high+shift)/total-total/2) {
			return true
		}
		middle := (first + last) / 2
		return middle > first && within(first, middle) && within(middle, last)
	}
	return within(0, objectiveCells)
}
