package posterior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/settings"
	"d3p/internal/simd"
)

// minEffectiveRecords is the effective number of simulated records per parameter
// below which correlations are mostly chance: the 96 predictors of adult, indicators
// of levels declared as plain numbers, have 4; datasets/cohort.yaml has 72.
// Directions without gradients are no chance, however few the records, and
// independent normals are far too narrow beside them.
const minEffectiveRecords = 10

// jointNormal replaces, at the end of a mean-field fit, the independent normals of
// the guide by a joint one. A mean-field guide knows a parameter as well as if all
// others were given: an intercept beside the effects of groups, which are known by
// their sums only, gets a third of its standard deviation, and less of its noise.
//
// H is the likelihood's information: its diagonal is measured (curvature), the rest
// is that of simulated records (scores). Λ is the prior's. The mean released
// gradient varies with the records by J (samplingRatio) and has noise of variance
// v̄, and with the batches by kJ: it measures the mode with information
// K = H((1 + k)J + v̄)⁻¹H instead of H. So the
// covariance of the real-valued parameters (inJoint) is (Λ + K)⁻¹, and the part beyond
// (Λ + H)⁻¹ is due to the noise; both are means over laws of the columns (overLaws).
// That is the best that the releases allow where the log likelihood is quadratic. The
// mean stays where the fit has it, which is nearly as good, except where that is far from the
// posterior's (toPosteriorMean), and in directions that the likelihood does not depend on
// (settleNull).
//
// Scale parameters are adjusted to their effects (scale.estimate). All others get a
// posterior one by one (correctAlone) and then correlate (couple).
type jointNormal struct {
	simulation
	records   int  // N, bought where only a bound is public
	wouldBuy  bool // Table 1, if the budget allowed it
	curvature *curvature
	prior     *models.PriorDensity
	scores    scores
	clipNorm  float64 // the mean of C over the steps
	releases  Releases
}

// joins reports whether a fit by p that released r may end in a joint normal.
func joins(p *plan.Plan, r Releases) bool {
	return p.Private && p.SumsGradients() && r.Averaged && simulates(p) && p.Latent <= plan.JointLimit(p.Model())
}

// newJointNormal simulates records at the released location. Their information is
// what c expects from then on.
func newJointNormal(p *plan.Plan, r Releases, c *curvature) *jointNormal {
	m, mean := p.Model(), guide.Location(r.Guide, r.Lambda)
	clipNorm, _ := r.Gradients.clipNorm()
	j := &jointNormal{
		simulation: newSimulation(p, r.Steps), records: p.Units(), curvature: c, prior: m.NewPriorDensity(),
		wouldBuy: p.Table1 != "" && p.Table1 != settings.Table1None, clipNorm: clipNorm, releases: r,
	}
	j.scores = newScores(m, mean, j.law, j.random())
	if expected := j.scores.information(j.clipNorm, p.Units()); simd.Finite(expected) {
		c.expected = c.laws.informations(expected)
		if c.wrong > 0 {
			c.constant = newScores(m, mean, j.law.Constant(), j.random()).information(j.clipNorm, p.Units())
		}
	}
	return j
}

// makeJoint makes post joint and reports whether it could. It cannot where
// correlations would be chance (minEffectiveRecords) or the prior is not
// log-concave; then post is spoiled.
func (j *jointNormal) makeJoint(post *Posterior) bool {
	m, c, q := j.model, j.curvature, j.scores
	free := inJoint(m)
	if len(free) == 0 || !(q.perParameter() >= minEffectiveRecords || q.of(free).null() != nil) {
		return false
	}
	h, v := c.shrunk()
	if !simd.Finite(h) || !simd.Finite(v) {
		return false
	}

	end := slices.Clone(post.Mean)
	j.forgetCorrelations(post)
	found, scales, q, null := j.settle(post, free, h, v)
	fitted := fittedAs(post.Mean, end, scales, free, null)

	own := c.informations(q, h, v, free, found, j.law.Correlation != nil)
	ofPrior := withFloor(priorInformation(j.prior, post, free), own.likelihood, pick(c.floor, free))
	simd.Mul(h, h, c.certainFraction(h, found, j.law.Correlation != nil, false))
	at, unclipped := slices.Clone(post.Mean), slices.Repeat([]float64{1}, len(free))
	first := inverse(noisyInformation(own.trusted, unclipped, c.noiseVariance()), ofPrior)
	if first == nil {
		return false
	}
	if j.corrects(free) {
		j.correctClipBias(post, clipBias{free, own.trusted, first, h, scales, fitted})
	}
	ratio := j.ratioAmong(free, post.Mean, fitted)
	widened := widening{free, scales, ofPrior, j.releasedMeans(end, at, free, found), ratio, c.noiseVariance(), j.designEffects.among(free), !j.mayMove(free)}
	own.plugIn = j.plugIn(j.law, post.Mean, free, found)
	whole := j.overLaws(own, post.Mean, found, widened)
	if whole == nil {
		return false
	}
	if c.constant != nil {
		whole.uncenter(j.model, widened, post.Mean)
	}
	addStep(post.Mean, free, whole.step)
	within, beyond := split(whole.total, whole.exact)
	if within == nil {
		return false
	}
	j.doubtErrors(post, free, own.trusted, first, beyond, h)
	j.separateResidual(post, widened, own, beyond)
	ofGuide, ofNoise := diagonal(post.LogSD, post.VarDP)
	setSubmatrix(ofGuide, free, within)
	setSubmatrix(ofNoise, free, beyond)
	if ofGuide, ofNoise = j.couple(post, free, alone(m, free, scales), h, v, ofGuide, ofNoise); ofGuide == nil {
		return false
	}
	for _, s := range scales {
		s.widen(ofGuide, ofNoise)
	}
	return post.setCovariance(ofGuide, ofNoise)
}

// ratioAmong is the ratio of noisyInformation among the coordinates free where the mean is at mean (P).
func (j *jointNormal) ratioAmong(free []int, mean []float64, f fitted) []float64 {
	ratio := pick(j.samplingRatio(mean, f.place, j.clipNorm), free)
	simd.Mul(ratio, ratio, pick(f.unit, free))
	if len(realValued(j.model)) == 0 {
		for i, x := range ratio { // of weibull(k, s), N = 3000 and ε = 4, intervals left the noise out
			ratio[i] = max(x, 1)
		}
	}
	simd.MulScalar(ratio, ratio, 1+j.curvature.batches)
	return ratio
}

// forgetCorrelations gives correlations of effects, which no gradient is about, their prior. The guide has them
// as if its effects had no noise: of N = 1000 records (ε = 1) two of two intervals missed correlations of .8.
func (j *jointNormal) forgetCorrelations(post *Posterior) {
	untouched := j.model.Likelihood.Untouched()
	for i := range j.model.Params {
		p := &j.model.Params[i]
		for k := p.Offset; k < p.Offset+p.Size; k++ {
			if p.Transform.Name == "cholesky_corr" && slices.Contains(untouched, k) {
				post.Mean[k], post.LogSD[k], post.VarDP[k] = 0, -math.Log(j.curvature.floor[k])/2, 0
			}
		}
	}
}

// settle moves the mean of post to where the prior is largest among the places that the likelihood
// does not tell from the end of the fit: scales and their effects, then the directions null of the
// coordinates free, without gradients. It brings the information h of effects and its variance v,
// both (P), to the unit of the new scales, and returns the scores there.
func (j *jointNormal) settle(post *Posterior, free []int, h, v []float64) (found []scale, scales []scaleEstimate, q scores, null *mat.Dense) {
	q = j.scores
	found = findScales(j.model, q, post.Mean)
	j.curvature.capPooled(h, q.haveGradients(), found)
	null = q.of(free).null()
	for _, s := range found {
		scales = append(scales, s.estimate(post, j.prior, j.curvature, h, v, offsetsOf(s, post, j.prior, free, j.certain(null, free))))
	}
	if len(scales) > 0 {
		q = newScores(j.model, post.Mean, j.law, j.random())
		null = q.of(free).null()
	}
	settleNull(post, j.prior, free, null)
	return found, scales, q, null
}

// settledEnd is the end of a fit by p that released r, settled.
func settledEnd(p *plan.Plan, r Releases) []float64 {
	c, post := newCurvature(p, r.Gradients, r.Steps), guidePosterior(p, r)
	j := newJointNormal(p, r, c)
	if h, v := c.shrunk(); simd.Finite(h) && simd.Finite(v) {
		settled := post.clone()
		if j.settle(settled, inJoint(p.Model()), h, v); simd.Finite(settled.Mean) {
			return settled.Mean
		}
	}
	return post.Mean
}

// isReal reports whether the numbers of p are its unconstrained ones.
func isReal(p *models.Param) bool { return p.Transform.Name == "identity" }

// realValued are the coordinates of parameters without bounds, and the lowest of ordered
// cutpoints: to raise it is to raise them all, which is what an intercept does.
func realValued(m *models.Model) []int {
	var list []int
	for i := range m.Params {
		switch p := &m.Params[i]; {
		case isReal(p):
			for j := range p.Size {
				list = append(list, p.Offset+j)
			}
		case p.Transform.Name == "ordered":
			list = append(list, p.Offset)
		}
	}
	return list
}

// inJoint lists the coordinates of the joint normal: the real-valued ones. A model such as gamma(a, b) has none.
// Its joint normal has all coordinates in which the gradient of a record is not 0.
func inJoint(m *models.Model) []int {
	if free := realValued(m); len(free) > 0 {
		return free
	}
	return alone(m, nil, nil)
}

// setCovariance makes the guide full-rank with covariance ofGuide, and the noise's
// covariance ofNoise. It reports whether both are positive definite.
func (p *Posterior) setCovariance(ofGuide, ofNoise *mat.SymDense) bool {
	n := len(p.Mean)
	for j := range n { // the noise may have none in some directions
		ofNoise.SetSym(j, j, ofNoise.At(j, j)+1e-9*ofGuide.At(j, j))
	}
	var guideFactor, noiseFactor mat.Cholesky
	if !guideFactor.Factorize(ofGuide) || !noiseFactor.Factorize(ofNoise) {
		return false
	}
	full := guide.NewFullRank(n)
	p.Lambda = make([]float64, full.Size())
	full.Set(p.Lambda, p.Mean, lower(&guideFactor))
	p.Guide, p.Mean = full, p.Lambda[:n:n]
	p.NoiseFactor = lower(&noiseFactor)
	for j := range n {
		p.LogSD[j] = math.Log(ofGuide.At(j, j)) / 2
		p.VarDP[j] = ofNoise.At(j, j)
	}
	return true
}
