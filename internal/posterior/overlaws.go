package posterior

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
	"d3p/internal/models/law"
	"d3p/internal/privacy/noise"
	"d3p/internal/simd"
)

// underLaw is the posterior of the free coordinates where records are simulated by one law.
type underLaw struct {
	exact, total *mat.SymDense // covariances without and with the privacy noise
	step         *mat.VecDense // of misplaced
	logEvidence  float64
}

// under is the posterior by the likelihood's information, the part of it that is trusted, and
// the information by the law without caution; nil if it cannot be computed. Caution makes
// intervals wide; a step by less information than there is would lead too far.
func (w widening) under(likelihood, trusted, believed *mat.SymDense) *underLaw {
	u := &underLaw{logEvidence: w.logEvidence(believed)}
	u.exact, u.total = w.covariances(likelihood, trusted)
	if u.exact == nil || u.total == nil {
		return nil
	}
	if w.stays {
		u.step = mat.NewVecDense(len(w.free), nil)
		return u
	}
	step := w.toPosteriorMean(believed)
	if step == nil {
		return nil
	}
	u.step = misplaced(step, u.total)
	return u
}

// widen takes the covariance at mean (P) where columns may be narrower than their law, and anywhere
// between their bounds. It reports whether it can be computed. The step stays that of columns as
// wide as declared.
func (u *underLaw) widen(m *models.Model, w widening, likelihood, trusted *mat.SymDense, mean []float64) bool {
	_, u.total = w.covariances(likelihood, trusted)
	if u.total == nil {
		return false
	}
	square := func(k int) float64 {
		at := slices.Index(w.free, k)
		return mean[k]*mean[k] + u.total.At(at, at)
	}
	eachCenter(m, square, func(variance float64, direction []float64) {
		u.total.SymRankOne(u.total, variance, mat.NewVecDense(len(w.free), pick(direction, w.free)))
	})
	return true
}

// mostMoved is the largest number of free parameters for which the fit's mean moves to the
// posterior's. That step inverts the information about all of them, so it trusts every correlation of the law, and most of
// a wide table's are not known: on Adult (15 columns, ε = 0.1) it took the mean log score on
// test records from -0.35 to -0.42.
const mostMoved = 40

// mostFree is the number of free parameters up to which laws are drawn.
const mostFree = 100

// moves reports whether the mean moves to the posterior's. That takes the information to be the same
// along the step, as it nearly is beside linear predictors. In a neural network one weight's
// information depends on the others: of 16 fits of eight tables (25 weights, N = 1000, ε = 1) the step
// raised the mean error in every one, on average from .43 to .59.
func (j *jointNormal) moves(free []int) bool {
	return len(free) <= mostMoved && j.model.IsLinear(func(k int) bool { return slices.Contains(free, k) })
}

// overLaws is the mean of bought, the posterior under the bought law, and of those under laws
// that the truth may have; nil where bought is. If a law has a correlation of .8 ± .1 and
// the truth is .9, two coefficients are known less well than the law says. Of many parameters
// most are effects, whose information is pooled: they keep the bought law, which saves
// seconds.
func (j *jointNormal) overLaws(bought *underLaw, mean []float64, scales []scale, w widening) *underLaw {
	if bought == nil || !j.law.Bought() || len(w.free) > mostFree {
		return bought
	}
	list := make([]*underLaw, laws)
	list[0] = bought
	var wait sync.WaitGroup
	for k := 1; k < laws; k++ {
		wait.Go(func() {
			l := j.law.Drawn(random(noise.Public(j.seed).Child(2), k))
			likelihood, trusted := j.information(l, mean, w.free, scales)
			list[k] = w.under(likelihood, trusted, j.believed(l, mean, w.free, scales))
		})
	}
	wait.Wait()
	return combined(list)
}

// combined is the mean of list, which has at least one entry that is not nil, each with the
// weight that the releases give its law. What their steps differ by is part of the total
// covariance.
func combined(list []*underLaw) *underLaw {
	var known []*underLaw
	var weights []float64
	for _, u := range list {
		if u != nil {
			known, weights = append(known, u), append(weights, u.logEvidence)
		}
	}
	floats.AddConst(-floats.LogSumExp(weights), weights)
	n := known[0].step.Len()
	out := &underLaw{exact: mat.NewSymDense(n, nil), total: mat.NewSymDense(n, nil), step: mat.NewVecDense(n, nil)}
	for k, u := range known {
		weights[k] = math.Exp(weights[k])
		out.step.AddScaledVec(out.step, weights[k], u.step)
	}
	for k, u := range known {
		var part mat.SymDense
		part.ScaleSym(weights[k], u.exact)
		out.exact.AddSym(out.exact, &part)
		part.ScaleSym(weights[k], u.total)
		out.total.AddSym(out.total, &part)
		var off mat.VecDense
		off.SubVec(u.step, out.step)
		out.total.SymRankOne(out.total, weights[k], &off)
	}
	return out
}

// information is the likelihood's information about the free parameters under a law, and the
// part of it that the measured curvature confirms.
func (j *jointNormal) information(l *law.Law, mean []float64, free []int, scales []scale) (likelihood, trusted *mat.SymDense) {
	q, h, v, certain := j.measured(l, mean, free, scales)
	likelihood = q.matrix(pick(h, free), pick(v, free))
	if !slices.ContainsFunc(certain, func(x float64) bool { return x != 1 }) {
		return likelihood, likelihood
	}
	simd.Mul(h, h, certain)
	return likelihood, q.matrix(pick(h, free), pick(v, free))
}

// believed is the information under a law without caution.
func (j *jointNormal) believed(l *law.Law, mean []float64, free []int, scales []scale) *mat.SymDense {
	q, h, v, _ := j.measured(l.Believed(), mean, free, scales)
	return q.matrix(pick(h, free), pick(v, free))
}

// measured are the scores of the free parameters under a law, the information h of every
// parameter with its variance v, and the fraction of h that the measured curvature confirms.
func (j *jointNormal) measured(l *law.Law, mean []float64, free []int, scales []scale) (q scores, h, v, certain []float64) {
	c, all := *j.curvature, newScores(j.model, mean, l, j.random())
	if expected := all.information(j.clipNorm, j.records); simd.Finite(expected) {
		c.expected = expected
	}
	h, v = make([]float64, j.model.P), make([]float64, j.model.P)
	c.each(func(k int, hk, vk, _ float64) { h[k], v[k] = hk, vk })
	c.capPooled(h, all.moved(), scales)
	return all.of(free), h, v, c.certainFraction(h, scales, l.Correlation != nil, false)
}
