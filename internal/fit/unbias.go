package fit

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// To see a bias, biasRecords times as many records are invented as the plan has,
// within bounds: then chance moves it by less than the records themselves do.
const biasRecords, fewestRecords, mostRecords = 10, 4000, 20000

// A correction must change the clipped gradients by at least minEffect of what
// their information says, and move no coordinate by more than maxMove of its
// standard deviations: beyond it the linear model that it comes from does not hold,
// as where an outcome is so rare that no invented record has it.
const minEffect, maxMove = 1.0 / 3, 3.0

// unbias takes from the means of post what clipping puts there. Clipped gradients
// do not add up to zero at the truth: residuals that are large one way, as those of
// a rare outcome, of counts, or of a variance, are cut on that side only. A fit
// ends where they do, at θ̂, and the model says how far from the truth that is: with
//
//	b(θ) = N E_θ[clip(∂ log p(record | θ̂))],
//
// over records that the model invents at θ, the truth has b(θ) = 0, to first order
// θ = θ̂ − H⁻¹b(θ̂). As the mean of post is a noisy measurement of the mode, it moves
// by (Λ + K)⁻¹H(H + v̄)⁻¹b of it only, and no further than where a second look finds
// that b has gone. This is the correction that makes a bounded influence function
// consistent: Cantoni and Ronchetti 2001, doi:10.1198/016214501753209004. It reads
// no record: the bias is that of the model, with predictors as declared.
//
// Free are the real-valued coordinates with their information H and covariance
// total = (Λ + K)⁻¹; others, with information h (P), are corrected one by one, but
// for scales, which follow from their effects.
func (l *Loop) unbias(post *Posterior, free []int, information, total *mat.SymDense, h []float64, scales []spread) {
	c, at := &l.state.Curvature, append([]float64(nil), post.Mean...)
	before, noiseOfMean := l.clippedSum(at, at), c.noiseOfMean()
	reach := spectral(information, func(e float64) float64 { return e / (e + noiseOfMean) })
	if reach == nil || !finite(before) {
		return
	}
	step := make([]float64, len(at))
	var push, block mat.VecDense
	push.MulVec(reach, mat.NewVecDense(len(free), pick(before, free)))
	block.MulVec(total, &push)
	for i, j := range free {
		step[j] = -block.AtVec(i)
	}
	alone := others(len(at), free, scales)
	for _, j := range alone {
		if kappa := h[j] / (h[j] + noiseOfMean); h[j] > 0 {
			step[j] = -kappa * before[j] / (math.Max(c.Prior[j]/c.Square[j], c.floor[j]) + kappa*h[j])
		}
	}
	there := make([]float64, len(at))
	for j := range at {
		there[j] = at[j] + step[j]
	}
	after := l.clippedSum(there, at)
	if !finite(after) {
		return
	}
	moved := mat.NewVecDense(len(free), pick(step, free))
	part := towardsZero(pick(step, free), pick(before, free), pick(after, free), mat.Inner(moved, information, moved))
	for i, j := range free {
		if part*math.Abs(step[j]) > maxMove*math.Sqrt(total.At(i, i)) {
			part = 0
		}
	}
	for _, j := range free {
		post.Mean[j] += part * step[j]
	}
	for _, j := range alone {
		post.Mean[j] += step[j] * towardsZero(step[j:j+1], before[j:j+1], after[j:j+1], step[j]*step[j]*h[j])
	}
}

// towardsZero is the part of a step, from 0 to 1, after which a gradient that is
// before at its start and after at its end has no slope along it, by linear
// interpolation; 0 where it changes by too little of the slope expected.
func towardsZero(step, before, after []float64, expected float64) float64 {
	start, end := 0.0, 0.0
	for j, s := range step {
		start, end = start+s*before[j], end+s*after[j]
	}
	if change := end - start; change >= minEffect*expected && change > 0 {
		return math.Max(0, math.Min(1, -start/change))
	}
	return 0
}

// others are the coordinates of latent that are neither free nor scales.
func others(latent int, free []int, scales []spread) []int {
	taken := make([]bool, latent)
	for _, j := range free {
		taken[j] = true
	}
	for _, s := range scales {
		taken[s.at] = true
	}
	var list []int
	for j, is := range taken {
		if !is {
			list = append(list, j)
		}
	}
	return list
}

// clippedSum is N E[clip(g)] (P) of gradients g at the parameters at over records
// invented at truth. Their scores at truth, whose mean is 0, are control variates.
func (l *Loop) clippedSum(truth, at []float64) []float64 {
	p, clipNorm, count := l.plan.Latent, l.clipNorm(), 0
	sum, scores, cross, square := make([]float64, p), make([]float64, p), make([]float64, p), make([]float64, p)
	l.eachInvented(truth, at, min(max(biasRecords*l.plan.Records, fewestRecords), mostRecords), func(g, score []float64) {
		count++
		factor := clipFactor(g, clipNorm)
		for j, x := range g {
			sum[j] += factor * x
			scores[j] += score[j]
			cross[j] += factor * x * score[j]
			square[j] += score[j] * score[j]
		}
	})
	for j := range sum {
		if square[j] > 0 {
			sum[j] -= cross[j] / square[j] * scores[j]
		}
		sum[j] *= float64(l.plan.Records) / float64(count)
	}
	return sum
}
