package posterior

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/interp"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/models/formula"
	"d3p/internal/models/graph"
	"d3p/internal/models/guide"
	"d3p/internal/models/law"
	"d3p/internal/privacy/noise"
	"d3p/internal/simd"
	"d3p/internal/stats"
)

// A level is scarce if the number of its records that was bought is below fewSDs standard deviations
// of its noise, and below fewOfMean times the mean over the levels of its column. Of one table
// mostScarce levels at most count, the scarcest.
const fewSDs, fewOfMean, mostScarce = 3.0, 0.5, 20

// scarceLevel is a level of a category that an unknown number n of records has: count was bought,
// with noise of the standard deviation sd. Laws have records with this level only, and with all
// others.
type scarceLevel struct {
	only, others *law.Law
	count, sd    float64
}

// withScarceLevels is post, of a fit by p that released r, with a distribution of its own in the
// direction of parameters that only the records of a scarce level depend on:
//
//	p(t) ∝ prior(t) ∫ N(count; n, sd²) N(f; n c(t), (1 + k) n s(t) + v) n^(-1/2) dn,  n ≥ 0,
//
// f the mean released gradient along the direction with noise of variance v, and c(t) and s(t) mean
// and variance of a record's clipped gradient where the truth is at t, by simulation. A law that
// gives a level of 10 records 300 takes the noise that moved the fit for the evidence of 300 records. But
// 300 would have pulled it back from where noise alone can go, far from the prior.
func withScarceLevels(p *plan.Plan, r Releases, post *Posterior) *Posterior {
	if len(realValued(p.Model())) == 0 {
		return post
	}
	s := newSimulation(p, r.Steps)
	for i, l := range s.scarceLevels() {
		if next := s.withLevel(l, r, post, random(noise.Public(s.seed).Child(5), i)); next != nil {
			post = next
		}
	}
	return post
}

// scarceLevels are the scarce levels of predictors, the scarcest first.
func (s simulation) scarceLevels() []scarceLevel {
	var list []scarceLevel
	given := s.model.Given()
	for i := range s.law.Columns {
		c := &s.law.Columns[i]
		if c.Edges != nil || len(c.ShareSD) != len(c.Shares) || !slices.Contains(given, c.Name) || s.groups(c.Name) {
			continue
		}
		mean := s.law.Records / float64(len(c.Shares))
		for k := range c.Shares {
			count, sd := c.Shares[k]*s.law.Records, c.ShareSD[k]*s.law.Records
			if count < math.Min(fewSDs*sd, fewOfMean*mean) {
				list = append(list, scarceLevel{s.withShare(i, k, 1), s.withShare(i, k, 0), count, sd})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b scarceLevel) int { return cmp.Compare(a.count/a.sd, b.count/b.sd) })
	return list[:min(len(list), mostScarce)]
}

// groups reports whether a formula has effects of the levels of a column.
func (s simulation) groups(name string) bool {
	f := s.model.Spec.Model
	return f != nil && f.Terms != nil && slices.ContainsFunc(f.Terms.Groups, func(g formula.GroupTerm) bool {
		return g.Group.V == name || slices.Contains(g.Crossed, name)
	})
}

// evenShare is the share of records with equally frequent levels that withShare adds.
const evenShare = 0.2

// withShare is the law with this share of a level of column i, the rest in equal parts for its other
// levels. No level of another column is without records.
func (s simulation) withShare(i, level int, share float64) *law.Law {
	l := s.law.PlugIn().Copy()
	l.Coded = nil
	for k := range l.Columns {
		c := &l.Columns[k]
		if c.Edges != nil || c.Shares == nil {
			continue
		}
		n := float64(len(c.Shares))
		c.Shares = slices.Clone(c.Shares)
		for j, x := range c.Shares {
			c.Shares[j] = (1-evenShare)*x + evenShare/n
			if k == i {
				c.Shares[j] = (1 - share) / (n - 1)
			}
		}
		if k == i {
			c.Shares[level] = share
		}
	}
	return l
}

// withLevel is post with the distribution in the direction of a level; nil where it has none.
func (s simulation) withLevel(l scarceLevel, r Releases, post *Posterior, rng *noise.Random) *Posterior {
	free := realValued(s.model)
	prior := priorInformation(s.model.NewPriorDensity(), post, free)
	along := s.direction(l, post.Mean, free, prior)
	if along == nil {
		return nil
	}
	m := levelMeasurement{
		scarceLevel: l, along: along,
		gradient: simd.Dot(along, r.Gradients.LikelihoodSlope) / r.Gradients.Totals[0],
		variance: r.Gradients.noiseVariance() * simd.Dot(along, along),
	}
	at, log := s.alongLevel(m, post.Mean, r.places(s.random()))
	if at == nil {
		return nil
	}
	_, variance := stats.GridMoments(at, log)
	return post.withAlong(along, s.distance(m, post.Mean, free, prior, math.Min(1, variance)), at, log, rng)
}

// direction (P) is that of a level, with the prior standard deviation 1, among the coordinates free
// with this prior information; nil where the other records do not leave exactly one open.
func (s simulation) direction(l scarceLevel, mean []float64, free []int, prior *mat.SymDense) []float64 {
	q := newScores(s.model, mean, l.others, s.random())
	g := mat.NewDense(q.records, len(free), nil)
	for r := range q.records {
		g.SetRow(r, pick(q.row(r), free))
	}
	covariance := inverse(prior, mat.NewSymDense(len(free), nil))
	var c mat.Cholesky
	if covariance == nil || !c.Factorize(covariance) {
		return nil
	}
	var root mat.TriDense
	var units mat.Dense
	var squares mat.SymDense
	c.LTo(&root)
	units.Mul(g, &root)
	squares.SymOuterK(1, units.T())
	values, vectors := eigen(&squares)
	n := len(values)
	if n < 2 || !(values[0] < nullTolerance*values[n-1] && values[1] >= nullTolerance*values[n-1]) {
		return nil
	}
	var ofFree mat.VecDense
	ofFree.MulVec(&root, vectors.ColView(0))
	along := make([]float64, s.model.P)
	for i, k := range free {
		along[k] = ofFree.AtVec(i)
	}
	return along
}

// distance (P) gives the distance t along the direction of a level as distance·θ. The part ofPrior
// of it is independent of all other directions under the prior. The rest is what the level's records
// measure: their predictors, which depend on other parameters, too.
func (s simulation) distance(l levelMeasurement, mean []float64, free []int, prior *mat.SymDense, ofPrior float64) []float64 {
	q, measured, square := newScores(s.model, mean, l.only, s.random()), make([]float64, len(mean)), 0.0
	for r := range q.records {
		x := simd.Dot(q.row(r), l.along)
		square += x * x
		simd.Axpy(measured, x, q.row(r))
	}
	var unchanged mat.VecDense
	unchanged.MulVec(prior, mat.NewVecDense(len(free), pick(l.along, free)))
	out := make([]float64, len(mean))
	for i, k := range free {
		out[k] = ofPrior*unchanged.AtVec(i) + (1-ofPrior)*measured[k]/square
	}
	return out
}

// withAlong is p with a distribution along a direction (P), by its log density on a grid, which is
// independent of what has the distance 0. It is nil where that is not finite.
func (p *Posterior) withAlong(along, distance, grid, log []float64, rng *noise.Random) *Posterior {
	across := func(dst, x []float64) {
		t := simd.Dot(distance, x)
		copy(dst, x)
		simd.Axpy(dst, -t, along)
	}
	n := len(p.Mean)
	if g, is := p.Guide.(guide.Sample); is {
		draws, off, t := make([]float64, g.Draws()*n), make([]float64, n), stats.GridQuantiles(grid, log, g.Draws())
		shuffle(t, rng)
		for i := range t {
			theta := draws[i*n : (i+1)*n]
			g.At(off, p.Lambda, i)
			simd.Sub(off, off, p.Mean)
			across(theta, off)
			simd.Add(theta, theta, p.Mean)
			simd.Axpy(theta, t[i], along)
		}
		return p.withDraws(draws)
	}
	mean, variance := stats.GridMoments(grid, log)
	exact, _ := p.covariancesAfter(func(dst, x []float64) { copy(dst, x) })
	total, ofNoise := p.covariancesAfter(across)
	total.AddSym(total, ofNoise)
	total.SymRankOne(total, variance, mat.NewVecDense(n, along))
	within, beyond := split(total, exact)
	out, at := *p, slices.Clone(p.Mean)
	simd.Axpy(at, mean, along)
	if within == nil || !out.setMeanAndCovariance(at, within, beyond) {
		return nil
	}
	return &out
}

// levelMeasurement is what a fit has released about a level: the mean gradient along its direction
// (P), with noise of this variance.
type levelMeasurement struct {
	scarceLevel
	along              []float64
	gradient, variance float64
}

// Records with a level are simulated, levelRecords of them, at levelLooks truths within levelReach
// prior standard deviations of the prior's mean, then within as many of the posterior's.
const levelRecords, levelLooks, levelReach = 800, 9, 4.5

// alongLevel is the log density of t at evenly spread points; nil where it is not finite. The truth
// is at a distance of t along the direction from mean (P).
func (s simulation) alongLevel(l levelMeasurement, mean []float64, places [][]place) (at, log []float64) {
	const points = 240
	s.law = l.only
	prior, theta, slope := s.model.NewPriorDensity(), make([]float64, len(mean)), make([]float64, len(mean))
	prior.Gradient(slope, mean)
	truth := func(t float64) []float64 {
		copy(theta, mean)
		simd.Axpy(theta, t, l.along)
		return theta
	}
	middle, reach := simd.Dot(slope, l.along), levelReach
	at, log = make([]float64, points), make([]float64, points)
	for range 2 { // from afar, then near
		var looks, means, variances [levelLooks]float64
		for i := range looks {
			looks[i] = middle + reach*(2*float64(i)/(levelLooks-1)-1)
			means[i], variances[i] = s.clippedAlong(l.along, truth(looks[i]), places)
		}
		var c, spread interp.FritschButland
		if !passes(&c, looks[:], means[:]) || !passes(&spread, looks[:], variances[:]) {
			return nil, nil
		}
		for i := range at {
			at[i] = middle + reach*((2*float64(i)+1)/points-1)
			log[i] = prior.LogDensity(truth(at[i])) + l.logLikelihood(c.Predict(at[i]), (1+s.batches)*s.designEffects.along(l.along)*spread.Predict(at[i]))
		}
		var variance float64
		middle, variance = stats.GridMoments(at, log)
		if !simd.Finite([]float64{middle}) || !isPositiveFinite(variance) {
			return nil, nil
		}
		reach = levelReach * math.Min(1, math.Sqrt(variance))
	}
	return at, log
}

// logLikelihood is the log of the integral over n, but for a constant, where the gradient of a
// record has the mean c and the variance s.
func (l levelMeasurement) logLikelihood(c, s float64) float64 {
	const points, reach = 80, 5.0
	var logs [points]float64
	for i := range logs { // √n is evenly spread
		n := (l.count + reach*l.sd) * math.Pow((float64(i)+0.5)/points, 2)
		variance := n*s + l.variance
		logs[i] = -math.Pow((l.count-n)/l.sd, 2)/2 - math.Pow(l.gradient-n*c, 2)/(2*variance) - math.Log(variance)/2
	}
	return floats.LogSumExp(logs[:])
}

// clippedAlong are mean and variance of the clipped gradient along a direction (P) of records that
// are simulated at truth, averaged over the places of their batch. The score at the truth, whose mean is 0, is a
// control variate of the mean.
func (s simulation) clippedAlong(direction, truth []float64, places [][]place) (mean, variance float64) {
	m, rng := s.model, s.random()
	machine := graph.NewMachine(m.Likelihood, simulationBatch)
	clipped, gradients := mat.NewDense(simulationBatch, m.P, nil), mat.NewDense(simulationBatch, m.P, nil)
	var xs, ys []float64
	for batch := range levelRecords / simulationBatch {
		runAt(machine, m, truth, s.law, rng, gradients)
		var scores [simulationBatch]float64
		for r := range scores {
			scores[r] = simd.Dot(gradients.RawRowView(r), direction)
		}
		s.addClipped(clipped, machine, places[batch%len(places)])
		for r, y := range scores {
			if x := simd.Dot(clipped.RawRowView(r), direction); simd.Finite([]float64{x, y}) {
				xs, ys = append(xs, x), append(ys, y)
			}
		}
	}
	n := float64(len(xs))
	mean = floats.Sum(xs) / n
	variance = simd.Dot(xs, xs)/n - mean*mean
	if square := simd.Dot(ys, ys); square > 0 {
		mean -= simd.Dot(xs, ys) / square * floats.Sum(ys) / n
	}
	return mean, variance
}
