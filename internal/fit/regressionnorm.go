package fit

import (
	"math"
	"slices"

	"d3p/internal/fit/plan"
	"d3p/internal/stats"
)

// unknownPart is the unknown share of the part cut off: the errors of all records share the
// uncertainty of the coefficients.
const unknownPart = 0.3

// skewedPart of what is cut off may point in one direction, because errors have other shapes and
// predictors differ from the law; of errors that are not normal, unlikePart.
const skewedPart, unlikePart = 0.1, 0.25

// errors are the variances of what a step's sums tell wrongly of whole sums: of a coefficient in
// φ and of log s. Half of the steps share a clip norm, and so all errors but the noise.
func (r *regression) errors(c clipped, norm float64) (slope, square float64) {
	n, noise, sharing, part := r.moments.Records, r.plan.GradientNoise*norm, float64(r.plan.Steps)/2, skewedPart
	if r.by.shape > 0 {
		part = unlikePart
	}
	error := func(derivative, miss, lost float64) float64 {
		noise, lost := noise/derivative, part*n*lost
		return noise*noise + sharing*(n*miss+lost*lost)
	}
	return error(c.slope, c.missSlope, c.lostSlope), error(c.square, c.missSquare, c.lostSquare)
}

// clipTrials clip norms are compared. The longest is longestNorm times the shortest. Each must keep
// at least leastKept of the information.
const clipTrials, longestNorm, leastKept = 24, 20, 0.05

// turns are the factors of the clip norms of even and odd steps. Their sums together tell of the
// shape of the errors, and hardly less of the parameters: the mean of their 1/norm² is nearly 1.
var turns = [2]float64{0.85, 1.4}

// clipNorm is the clip norm of a step at the mode of the first candidate, before its turn: that
// with the least squared error, by the information of whole sums, on average over the candidates.
func clipNorm(list []candidate, step int) float64 {
	first := list[0]
	place := make([]float64, len(first.Places))
	variance := math.Exp(2 * first.at(place, first.mode))
	var all []*gradients
	for _, x := range list {
		all = append(all, x.simulate(belief{first.mode, first.covariance, x.shape}).gradients(place, variance))
	}
	weights := weights(list)
	low := stats.Quantile(slices.Sorted(slices.Values(all[0].norms)), 0.6)
	best, least := low, math.Inf(1)
	for trial := range clipTrials {
		c := low * math.Pow(longestNorm, float64(trial)/(clipTrials-1))
		error, kept := 0.0, true
		for i, g := range all {
			x := g.clip(c)
			slope, square := g.errors(x, c)
			error += weights[i] * (float64(len(place))*slope + square/2)
			kept = kept && x.slope > leastKept && x.square > leastKept
		}
		if kept && error < least {
			best, least = c, error
		}
	}
	return min(max(best*turns[step%2], plan.MinClipNorm), plan.MaxClipNorm)
}
