package posterior

import (
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
	"d3p/internal/models/law"
	"d3p/internal/privacy/noise"
	"d3p/internal/simd"
)

// underLaw is the posterior of the free coordinates where records are simulated by one law.
type underLaw struct {
	exact, total *mat.SymDense // covariances without and with the privacy noise
	step         *mat.VecDense // of beyondOneSD
}

// informations are what a law makes of the likelihood's information: all of it, the part that
// the measured curvature confirms, that part where columns may be narrower than the law, and
// what the law has without caution.
type informations struct{ likelihood, trusted, narrow, plugIn *mat.SymDense }

// posteriorUnder is the posterior by the information under a law; nil if it cannot be computed. Caution
// makes intervals wide; a step by less information than there is would lead too far. The step is
// that of columns as wide as their law.
func (w widening) posteriorUnder(h informations) *underLaw {
	u := &underLaw{}
	u.exact, u.total = w.covariances(h.likelihood, h.trusted)
	if u.exact == nil || u.total == nil {
		return nil
	}
	u.step = mat.NewVecDense(len(w.free), nil)
	if !w.stays {
		step := w.toPosteriorMean(h.plugIn)
		if step == nil {
			return nil
		}
		u.step = beyondOneSD(step, u.total)
	}
	if h.narrow != h.trusted {
		_, u.total = w.covariances(h.likelihood, h.narrow)
	}
	if u.total == nil {
		return nil
	}
	return u
}

// uncenter adds to the covariance at mean (P) that columns may lie anywhere between their bounds.
func (u *underLaw) uncenter(m *models.Model, w widening, mean []float64) {
	square := func(k int) float64 {
		at := slices.Index(w.free, k)
		return mean[k]*mean[k] + u.total.At(at, at)
	}
	eachCenter(m, square, func(variance float64, direction []float64) {
		u.total.SymRankOne(u.total, variance, mat.NewVecDense(len(w.free), pick(direction, w.free)))
	})
}

// mostMoved is the largest number of free parameters for which the fit's mean moves to the
// posterior's. That step inverts the information about all of them, so it trusts every correlation of the law, and most of
// a wide table's are not known: on Adult (15 columns, ε = 0.1) it took the mean log score on
// test records from -0.35 to -0.42.
const mostMoved = 40

// mostFree is the number of free parameters up to which laws are drawn.
const mostFree = 100

// mayMove reports whether the mean moves to the posterior's. That takes the information to be the same
// along the step, as it nearly is beside linear predictors. In a neural network one weight's
// information depends on the others: of 16 fits of eight tables (25 weights, N = 1000, ε = 1) the step
// raised the mean error in every one, on average from .43 to .59.
func (j *jointNormal) mayMove(free []int) bool {
	return len(free) <= mostMoved && j.model.IsLinear(func(k int) bool { return slices.Contains(free, k) })
}

// communalities are the shares of the columns' variance from their common factor, by law.
var communalities = [laws]float64{0, 0.5, 0.8, 0.9, 0.95, 0.98}

// noisy and unbought are the noise, over the records' information about a parameter, above which
// columns may be correlated: of any fit, and of one that would have bought Table 1 if
// it could. Then information is scarce along the directions that correlated columns hide.
const noisy, unbought = 1.0, 0.2

// oneFactor reports whether overLaws uses laws with the correlations of a one-factor model. A user who buys nothing on
// purpose (--table1 none) has declared the law, so it stays unless noise prevails. Of N = 300 records
// (ε = 0.3, eight tables of each of five families) .90 of the intervals of coefficients hold with these
// laws where columns are correlated by .8, .81 where they are by .95, and .92 where columns are 2.5 times
// narrower than declared; .71, .56 and .64 hold without. The price is that intervals of independent
// columns are 1.5 times as wide.
func (j *jointNormal) oneFactor(own informations, w widening) bool {
	n, least := len(w.free), noisy
	if j.wouldBuy {
		least = unbought
	}
	return n > 0 && w.noise*float64(n) > least*mat.Trace(own.likelihood) &&
		j.law.OneFactor(j.model.Given(), 0, j.random()) != nil
}

// overLaws is the mean of the posterior by own, the information under the bought law, and of
// those under laws that the truth may have; nil where the first is. If a law has a correlation
// of .8 ± .1 and the truth is .9, two coefficients are known less well than under the law. Of
// many parameters most are effects, whose information is pooled: they keep the bought law, which
// saves seconds.
func (j *jointNormal) overLaws(own informations, mean []float64, scales []scale, w widening) *underLaw {
	bought, oneFactor := w.posteriorUnder(own), j.oneFactor(own, w)
	if bought == nil || !j.law.Bought() && !oneFactor || len(w.free) > mostFree {
		return bought
	}
	list := make([]*underLaw, laws)
	list[0] = bought
	var wait sync.WaitGroup
	for k := 1; k < laws; k++ {
		wait.Go(func() {
			rng := random(noise.Public(j.seed).Child(2), k)
			l := j.law.Drawn(rng)
			if oneFactor {
				l = l.OneFactor(j.model.Given(), communalities[k], rng)
			}
			list[k] = w.posteriorUnder(j.information(l, mean, w.free, scales))
		})
	}
	wait.Wait()
	return combined(list)
}

// combined is the mean of list, which has at least one entry that is not nil. What their steps
// differ by is part of the total covariance. Laws count alike: how probable they make the releases
// differs by many nats, most of them chance of few laws and of simulated records, and one law would
// take all the weight.
func combined(list []*underLaw) *underLaw {
	known := slices.DeleteFunc(list, func(u *underLaw) bool { return u == nil })
	n, weight := known[0].step.Len(), 1/float64(len(known))
	out := &underLaw{exact: mat.NewSymDense(n, nil), total: mat.NewSymDense(n, nil), step: mat.NewVecDense(n, nil)}
	for _, u := range known {
		out.step.AddScaledVec(out.step, weight, u.step)
	}
	for _, u := range known {
		var part mat.SymDense
		part.ScaleSym(weight, u.exact)
		out.exact.AddSym(out.exact, &part)
		part.ScaleSym(weight, u.total)
		out.total.AddSym(out.total, &part)
		var off mat.VecDense
		off.SubVec(u.step, out.step)
		out.total.SymRankOne(out.total, weight, &off)
	}
	return out
}

// information is the information about the free parameters under a law.
func (j *jointNormal) information(l *law.Law, mean []float64, free []int, scales []scale) informations {
	c, q, h, v := j.measured(l, mean, scales)
	out := c.informations(q, h, v, free, scales, j.law.Correlation != nil)
	out.plugIn = j.plugIn(l, mean, free, scales)
	return out
}

// plugIn is the information under a law without caution.
func (j *jointNormal) plugIn(l *law.Law, mean []float64, free []int, scales []scale) *mat.SymDense {
	_, q, h, v := j.measured(l.PlugIn(), mean, scales)
	return q.of(free).matrix(pick(h, free), pick(v, free))
}

// informations returns those by the scores q and the information h (P) of every parameter with its
// variance v. It leaves plugIn nil. known tells whether correlations of columns are known.
func (c *curvature) informations(q scores, h, v []float64, free []int, scales []scale, known bool) informations {
	q = q.of(free)
	out := informations{likelihood: q.matrix(pick(h, free), pick(v, free))}
	out.trusted = q.part(h, v, c.certainFraction(h, scales, known, false), free)
	out.narrow = out.trusted
	if c.constant != nil {
		out.narrow = q.part(h, v, c.certainFraction(h, scales, known, true), free)
	}
	return out
}

// measured are the curvature and the scores under a law, and the information h of every
// parameter with its variance v.
func (j *jointNormal) measured(l *law.Law, mean []float64, scales []scale) (c *curvature, q scores, h, v []float64) {
	own := *j.curvature
	c, q = &own, newScores(j.model, mean, l, j.random())
	if expected := q.information(j.clipNorm, j.records); simd.Finite(expected) {
		c.expected = c.laws.informations(expected)
	}
	h, v = c.shrunk()
	c.capPooled(h, q.haveGradients(), scales)
	return c, q, h, v
}
