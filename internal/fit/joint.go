package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/privacy/noise"
)

// jointLimit is up to how many parameters a fit ends in a joint normal.
const jointLimit = 300

// fewRecords is the effective number of invented records for a parameter below
// which a pattern is mostly chance: 96 predictors of adult, which are marks of
// levels declared as plain numbers, have 4, datasets/cohort.yaml has 72. Flat
// directions are no chance, however few the records are, and independent normals
// are far too narrow beside them.
const fewRecords = 10

// join replaces, at the end of a mean-field fit, the independent normals of post
// by a joint one. A mean-field guide takes a parameter to be as well known as if
// all others were given: an intercept beside the effects of groups, which are
// known by their sums only, comes out with a third of its standard deviation, and
// the noise in it with less.
//
// H is the likelihood's information: its diagonal is measured (see curvature),
// its pattern is that of invented records. Λ is the prior's. The mean released
// gradient varies with the records by J, see samplingRatio, and has noise of
// variance v̄: it is a measurement of the mode with information K = H(J + v̄)⁻¹H
// instead of H. So the covariance of the real-valued parameters is (Λ + K)⁻¹, of
// which what goes beyond (Λ + H)⁻¹ stands for the noise.
// That is the best that can be known from the releases where the log likelihood
// is quadratic; the mean stays where the fit has it, which is nearly as good, but
// in directions that the likelihood does not depend on, see settle.
//
// Of the others, scales are brought to what their effects say, see rescale; the
// rest keeps its independent normals. Where a pattern would be chance (fewRecords),
// or a prior is not log-concave, post stays as it is.
func (l *Loop) join(post *Posterior, prior *models.PriorDensity, invented pattern) {
	if joint := post.clone(); l.joinNormals(joint, prior, invented) && joint.isFinite() {
		*post = *joint
	}
}

// invent takes the gradients of records that the model invents at the average of
// the iterates, from which the curvature learns what to expect; nil where join is
// not for this fit.
func (l *Loop) invent() *pattern {
	if !l.joins() {
		return nil
	}
	q := newPattern(l.plan, guide.Location(l.guide, l.state.Average.Mean), l.simulation())
	if expected := q.information(l.clipNorm(), l.plan.Records); finite(expected) {
		l.state.Curvature.expected = expected
		l.state.Curvature.coefficients = l.coefficients(q)
	}
	return &q
}

// coefficients reports of each coordinate whether it is real-valued and no effect
// of a scale, by the gradients q of invented records.
func (l *Loop) coefficients(q pattern) []bool {
	m, list := l.plan.Model(), make([]bool, l.plan.Latent)
	effects := effectsOf(findScales(m, q, guide.Location(l.guide, l.state.Average.Mean)), l.plan.Latent)
	for _, j := range realValued(m) {
		list[j] = !effects[j]
	}
	return list
}

// simulation is the public randomness of invented records.
func (l *Loop) simulation() *noise.Random {
	return noise.NewRandom(noise.Public(l.plan.InitSeed).Stream(noise.Simulation))
}

// joinNormals is join; it reports whether all of it could be done.
func (l *Loop) joinNormals(post *Posterior, prior *models.PriorDensity, invented pattern) bool {
	m, c := l.plan.Model(), &l.state.Curvature
	free := realValued(m)
	ofFree := invented.of(free)
	if len(free) == 0 || !(invented.perParameter() >= fewRecords || ofFree.flat() != nil) {
		return false
	}
	h, v := make([]float64, l.plan.Latent), make([]float64, l.plan.Latent)
	c.each(func(j int, hj, vj, _ float64) { h[j], v[j] = hj, vj })
	if !finite(h) || !finite(v) {
		return false
	}

	found := findScales(m, invented, post.Mean)
	c.beCautious(h, invented.moved(), found)
	believed := c.believed(h, found)
	var scales []spread
	for _, s := range found {
		scales = append(scales, s.rescale(post, prior, c, h, v))
	}
	if len(scales) > 0 {
		ofFree = newPattern(l.plan, post.Mean, l.simulation()).of(free)
	}
	settle(prior, post, free, ofFree.flat())

	likelihood := ofFree.fit(pick(h, free), pick(v, free))
	ofPrior := raised(priorInformation(prior, post, free), likelihood, pick(c.floor, free))
	for j, part := range believed {
		h[j] *= part
	}
	trusted := ofFree.fit(pick(h, free), pick(v, free))
	at, unclipped := slices.Clone(post.Mean), slices.Repeat([]float64{1}, len(free))
	first := inverse(behindNoise(trusted, unclipped, c.noiseOfMean()), ofPrior)
	if first == nil {
		return false
	}
	l.unbias(post, free, trusted, first, h, scales)
	ratio := pick(l.samplingRatio(post.Mean, at), free)
	exact, total := inverse(likelihood, ofPrior), inverse(behindNoise(trusted, ratio, c.noiseOfMean()), ofPrior)
	if exact == nil || total == nil {
		return false
	}
	within, beyond := apart(total, exact)
	if within == nil {
		return false
	}
	ofGuide, ofNoise := diagonal(post.LogSD, post.VarDP)
	replaceBlock(ofGuide, free, within)
	replaceBlock(ofNoise, free, beyond)
	for _, s := range scales {
		s.widen(ofGuide, ofNoise)
	}
	return post.setCovariance(ofGuide, ofNoise)
}

// joins reports whether the fit is one that join is for.
func (l *Loop) joins() bool {
	p := l.plan
	return p.Private && p.NoiseAware == plan.NoiseAwareCurvature && p.Latent <= jointLimit && l.state.Average.Count > 0 && simulatesRecords(p)
}

// isReal reports whether the numbers of p are its unconstrained ones.
func isReal(p *models.Param) bool { return p.Transform.Name == "identity" }

// realValued are the coordinates of parameters without bounds.
func realValued(m *models.Model) []int {
	var list []int
	for i := range m.Params {
		if p := &m.Params[i]; isReal(p) {
			for j := range p.Size {
				list = append(list, p.Offset+j)
			}
		}
	}
	return list
}

// pick is x at index.
func pick(x []float64, index []int) []float64 {
	out := make([]float64, len(index))
	for i, j := range index {
		out[i] = x[j]
	}
	return out
}

// information is the negative Hessian of the log prior at the mean of post among
// the coordinates index, by central differences of its gradient.
func priorInformation(p *models.PriorDensity, post *Posterior, index []int) *mat.SymDense {
	n := len(post.Mean)
	theta, above, below := append([]float64(nil), post.Mean...), make([]float64, n), make([]float64, n)
	rows := mat.NewDense(len(index), len(index), nil)
	for i, j := range index {
		step := math.Exp(post.LogSD[j]) / 100
		theta[j] = post.Mean[j] + step
		p.Gradient(above, theta)
		theta[j] = post.Mean[j] - step
		p.Gradient(below, theta)
		theta[j] = post.Mean[j]
		for m, k := range index {
			rows.Set(i, m, (below[k]-above[k])/(2*step))
		}
	}
	return symmetric(rows)
}

// setCovariance makes the guide full-rank with covariance ofGuide, and the noise's
// covariance ofNoise; it reports whether both are positive definite.
func (p *Posterior) setCovariance(ofGuide, ofNoise *mat.SymDense) bool {
	n := len(p.Mean)
	for j := range n { // directions that no noise reaches
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

// clone is a copy of a mean-field posterior whose numbers may be changed.
func (p *Posterior) clone() *Posterior {
	out := *p
	out.Lambda, out.LogSD, out.VarDP = slices.Clone(p.Lambda), slices.Clone(p.LogSD), slices.Clone(p.VarDP)
	out.Mean = guide.Location(out.Guide, out.Lambda)
	return &out
}

// isFinite reports whether the posterior is made of numbers.
func (p *Posterior) isFinite() bool {
	return finite(p.Lambda) && finite(p.LogSD) && finite(p.VarDP) && finite(p.NoiseFactor)
}
