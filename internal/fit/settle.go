package fit

import (
	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
)

// settle moves the mean of post, in the coordinates index, to where the prior is
// largest along the directions flat (columns), which the likelihood does not
// depend on: there the posterior is the prior, and no step was ever told by a
// record how far to go. An optimizer of the noisy whole gets there late: from
// zero, an intercept and the effects of all groups move alike, though the prior
// wants most of it in the intercept. It takes one Newton step, shortened until
// the prior's density rises.
func settle(p *models.PriorDensity, post *Posterior, index []int, flat *mat.Dense) {
	if flat == nil {
		return
	}
	gradient := make([]float64, len(post.Mean))
	p.Gradient(gradient, post.Mean)
	var push, along, step mat.VecDense
	push.MulVec(flat.T(), mat.NewVecDense(len(index), pick(gradient, index)))
	var half, curvature mat.Dense
	half.Mul(priorInformation(p, post, index), flat)
	curvature.Mul(flat.T(), &half)
	if along.SolveVec(&curvature, &push) != nil || mat.Dot(&along, &push) <= 0 {
		return // the prior is not log-concave there
	}
	step.MulVec(flat, &along)
	here, theta := p.LogDensity(post.Mean), make([]float64, len(post.Mean))
	for size := 1.0; size > 1e-3; size /= 2 {
		copy(theta, post.Mean)
		for i, j := range index {
			theta[j] += size * step.AtVec(i)
		}
		if p.LogDensity(theta) > here {
			copy(post.Mean, theta)
			return
		}
	}
}
