package posterior

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
)

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
	theta, above, below := append([]float64(nil), post.Mean...), make([]float64, n), make([]float64, n)
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
