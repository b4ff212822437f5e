package posterior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
	"d3p/internal/simd"
)

// toPosteriorMean is the step of the free coordinates from the end of a fit to the mean of the
// posterior, where h is the likelihood's information H; nil if it cannot be computed.
//
// A fit ends where the released gradient g and the prior's gradient p add up to zero, as if
// g had no noise. With noise, g tells κg, κ = H(J + v̄)⁻¹, so the mean of the posterior is
// at θ̄ + (Λ + K)⁻¹(p + κg), θ̄ the mean of the releases' places. Where records say
// little, as of a level that two of them have, κ is near 0 and the noise took the fit
// anywhere: the step leads back to the prior. Effects of a scale are at their posterior
// means already (scaleEstimate).
func (w widening) toPosteriorMean(h *mat.SymDense) *mat.VecDense {
	var middle mat.Cholesky
	covariance := inverse(noisyInformation(h, w.ratio, w.noise), w.prior)
	if covariance == nil || !middle.Factorize(noisyVariance(h, w.ratio, w.noise)) {
		return nil
	}
	var solved, pull, step mat.VecDense
	if middle.SolveVecTo(&solved, w.ofLikelihood) != nil {
		return nil
	}
	pull.MulVec(h, &solved)
	pull.AddVec(&pull, w.ofPrior)
	step.MulVec(covariance, &pull)
	step.AddVec(&step, w.place)
	return &step
}

// beyondOneSD is the part of a step that is longer than a standard deviation along the principal
// axes of a covariance. Within it the end of the fit is as good: of eight logistic tables with
// columns correlated by .95 (N = 1000, ε = 1) whole steps made the errors a quarter larger.
func beyondOneSD(step *mat.VecDense, covariance *mat.SymDense) *mat.VecDense {
	out := mat.NewVecDense(step.Len(), nil)
	values, vectors := eigen(covariance)
	for i, v := range values {
		axis := vectors.ColView(i)
		along, sd := mat.Dot(step, axis), math.Sqrt(math.Max(0, v))
		if excess := math.Abs(along) - sd; excess > 0 {
			out.AddScaledVec(out, math.Copysign(excess, along), axis)
		}
	}
	return out
}

// addStep adds a step of the free coordinates to mean (P).
func addStep(mean []float64, free []int, step *mat.VecDense) {
	for i, k := range free {
		mean[k] += step.AtVec(i)
	}
}

// releasedMeans are the mean gradients of prior and likelihood over the releases, and the
// distance of the mean of their places from the end of the fit, in the free coordinates. All
// are 0 for the effects of scales.
type releasedMeans struct{ ofPrior, ofLikelihood, place *mat.VecDense }

// releasedMeans are those of a fit that ended at end (P) and was then settled at settled (P), which
// the likelihood does not tell from it: only the prior's gradient is another.
func (j *jointNormal) releasedMeans(end, settled []float64, free []int, scales []scale) releasedMeans {
	isEffect, c := effectsOf(scales, len(end)), j.curvature
	mean := func(sum, less []float64) *mat.VecDense {
		v := mat.NewVecDense(len(free), nil)
		for i, k := range free {
			if !isEffect[k] {
				v.SetVec(i, sum[k]/c.Totals[0]-less[k])
			}
		}
		return v
	}
	none, fall, there := make([]float64, len(end)), make([]float64, len(end)), make([]float64, len(end))
	j.prior.Gradient(fall, end)
	j.prior.Gradient(there, settled)
	simd.Sub(fall, fall, there)
	return releasedMeans{mean(c.PriorSlope, fall), mean(c.LikelihoodSlope, none), mean(c.Place, end)}
}

// nullTolerance is the largest eigenvalue of the scores' correlations at which a
// direction counts as one without gradients.
const nullTolerance = 1e-10

// null is a basis, in columns, of the directions in which no record has a
// gradient; nil where there is none.
func (q scores) null() *mat.Dense {
	g := mat.NewDense(q.records, q.latent, q.gradients)
	length := make([]float64, q.latent)
	var squares mat.SymDense
	squares.SymOuterK(1, g.T())
	for j := range length {
		length[j] = math.Sqrt(squares.At(j, j))
	}
	for j := range length {
		for k := range j + 1 {
			squares.SetSym(j, k, squares.At(j, k)/(length[j]*length[k]))
		}
	}
	values, vectors := eigen(&squares)
	count := 0 // values ascend
	for count < len(values) && values[count] < nullTolerance {
		count++
	}
	if count == 0 {
		return nil
	}
	basis := mat.DenseCopyOf(vectors.Slice(0, q.latent, 0, count))
	for j, x := range length {
		for k := range count {
			basis.Set(j, k, basis.At(j, k)/x)
		}
	}
	return basis
}

// settleNull moves the mean of post, in the coordinates index, to where the prior
// is largest along the directions null (columns), which the likelihood does not
// depend on. There the posterior is the prior, and an optimizer of the noisy whole
// arrives late: from zero, an intercept and the effects of all groups move alike,
// though the prior wants most of it in the intercept. It takes one Newton step,
// shortened until the prior's density rises.
func settleNull(post *Posterior, prior *models.PriorDensity, index []int, null *mat.Dense) {
	if null == nil {
		return
	}
	gradient := make([]float64, len(post.Mean))
	prior.Gradient(gradient, post.Mean)
	var push, along, newton mat.VecDense
	push.MulVec(null.T(), mat.NewVecDense(len(index), pick(gradient, index)))
	var half, curvature mat.Dense
	half.Mul(priorInformation(prior, post, index), null)
	curvature.Mul(null.T(), &half)
	if along.SolveVec(&curvature, &push) != nil || mat.Dot(&along, &push) <= 0 {
		return // the prior is not log-concave there
	}
	newton.MulVec(null, &along)
	here, theta := prior.LogDensity(post.Mean), make([]float64, len(post.Mean))
	for size := 1.0; size > 1e-3; size /= 2 {
		copy(theta, post.Mean)
		for i, j := range index {
			theta[j] += size * newton.AtVec(i)
		}
		if prior.LogDensity(theta) > here {
			copy(post.Mean, theta)
			return
		}
	}
}

// priorInformation is the negative Hessian of the log prior at the mean of post
// among the coordinates index, by central differences of its gradient.
func priorInformation(prior *models.PriorDensity, post *Posterior, index []int) *mat.SymDense {
	n := len(post.Mean)
	theta, above, below := slices.Clone(post.Mean), make([]float64, n), make([]float64, n)
	rows := mat.NewDense(len(index), len(index), nil)
	for i, j := range index {
		h := math.Exp(post.LogSD[j]) / 100
		theta[j] = post.Mean[j] + h
		prior.Gradient(above, theta)
		theta[j] = post.Mean[j] - h
		prior.Gradient(below, theta)
		theta[j] = post.Mean[j]
		for m, k := range index {
			rows.Set(i, m, (below[k]-above[k])/(2*h))
		}
	}
	return symmetric(rows)
}
