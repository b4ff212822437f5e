package posterior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/simd"
)

// weightRounds is the number of updates of the weights.
const weightRounds = 100

// matrix is the information matrix Σ w_r g_r g_rᵀ whose diagonal is h (P), h ≥ 0,
// which was measured with variance v (P). The weights w are least squares by the
// multiplicative updates of Lee and Seung 2001 (Algorithms for non-negative matrix
// factorization, NIPS 13), from equal ones. They stop where the diagonal differs
// from h as much as h differs from the truth, Σ (diagonal − h)²/v ≤ P (Morozov's
// discrepancy principle). Further updates would follow the noise in h: where it
// makes the information of a few records' level larger than that of all records,
// nothing would be left for the others.
func (q scores) matrix(h, v []float64) *mat.SymDense {
	square := make([]float64, len(q.gradients))
	simd.Mul(square, q.gradients, q.gradients)
	of := func(r int) []float64 { return square[r*q.latent : (r+1)*q.latent] }
	weight, have, want := make([]float64, q.records), make([]float64, q.latent), make([]float64, q.records)
	scaled := make([]float64, q.latent)
	floats.DivTo(scaled, h, v)
	for r := range want {
		simd.Add(have, have, of(r))
		want[r] = simd.Dot(of(r), scaled)
	}
	common := commonFactor(have, h, v)
	for r := range weight {
		weight[r] = common
	}
	for range weightRounds {
		clear(have)
		for r, w := range weight {
			simd.Axpy(have, w, of(r))
		}
		if misfit(have, h, v) <= float64(q.latent) {
			break
		}
		floats.DivTo(scaled, have, v)
		for r := range weight {
			if sum := simd.Dot(of(r), scaled); sum > 0 {
				weight[r] *= want[r] / sum
			}
		}
	}
	rows := mat.NewDense(q.records, q.latent, nil)
	for r, w := range weight {
		simd.MulScalar(rows.RawRowView(r), q.row(r), math.Sqrt(w))
	}
	out := mat.NewSymDense(q.latent, nil)
	out.SymOuterK(1, rows.T())
	return out
}

// part is the matrix of the fractions of the information h (P) about the free parameters.
func (q scores) part(h, v, fraction []float64, free []int) *mat.SymDense {
	h, v = slices.Clone(h), slices.Clone(v)
	for k, x := range fraction {
		h[k] *= x
		v[k] *= x * x
	}
	return q.matrix(pick(h, free), pick(v, free))
}

// commonFactor is the a ≥ 0 for which Σ (a·have − h)²/v is least.
func commonFactor(have, h, v []float64) float64 {
	product, square := 0.0, 0.0
	for j, x := range have {
		product, square = product+x*h[j]/v[j], square+x*x/v[j]
	}
	return product / square
}

// misfit is Σ (have − h)²/v.
func misfit(have, h, v []float64) float64 {
	sum := 0.0
	for j, x := range have {
		sum += (x - h[j]) * (x - h[j]) / v[j]
	}
	return sum
}

// capPooled bounds the information h (P) that coordinates were given by pooling.
// The effects of one scale keep it. Any other coordinate keeps at most its own
// estimate plus one standard error: a level with few records is not as well known
// as its neighbours. Some coordinates get no gradient from any simulated record,
// such as the effect of a missing value; moved is false there. For those we keep
// only the part of the estimate that is significant at 5 % (one-sided).
func (c *curvature) capPooled(h []float64, moved []bool, scales []scale) {
	isEffect := effectsOf(scales, len(h))
	for j := range h {
		switch own, v := c.estimate(j); {
		case !moved[j]:
			h[j] = math.Max(0, own-1.6449*math.Sqrt(v))
		case !isEffect[j]:
			h[j] = math.Min(h[j], math.Max(0, own+math.Sqrt(v)))
		}
	}
}

// certainFraction is the fraction of the information h (P) of every coordinate that,
// if it were known exactly, would give the coordinate the same variance given all
// others:
//
//	1/variance = λ + x²/(x + v̄),  x = fraction·h.
//
// So the joint normal includes the error of the measured curvature. The fraction is 1 if
// correlations of the predictors were bought, because the laws that the truth may have
// contain what is not known of the information. It is 1 for the effects of a scale, whose
// information is pooled and whose error is in the scale's posterior. It leaves out the distance between a coordinate's own
// posterior mean and the end of the fit: coordinates that share what they explain
// would each go all of the way for all of them.
//
// With narrow it includes that a column may be narrower than its law.
func (c *curvature) certainFraction(h []float64, scales []scale, correlated, narrow bool) []float64 {
	fraction, noise, isEffect := make([]float64, len(h)), c.noiseOfMean(), effectsOf(scales, len(h))
	c.each(func(j int, own, v, lambda float64) {
		fraction[j] = 1
		prior := math.Max(lambda, c.floor[j])
		_, variance := measurement{h: own, v: v, noise: noise, sampling: 1, lambda: prior}.posterior()
		if narrow {
			variance = c.unresolved(j, prior, variance)
		}
		known := math.Max(0, 1/variance-prior) // κh
		if h[j] > 0 && !isEffect[j] && !correlated {
			fraction[j] = math.Min(1, (known+math.Sqrt(known*known+4*known*noise))/(2*h[j]))
		}
	})
	return fraction
}
