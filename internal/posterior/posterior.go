package posterior

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/models/guide"
	"d3p/internal/nuts"
	"d3p/internal/settings"
	"d3p/internal/simd"
)

// Posterior is the released approximation of the posterior, on the
// unconstrained scale: a guide, and how far the privacy noise may have moved its
// location.
type Posterior struct {
	Plan  *plan.Plan
	Guide guide.Guide

	Lambda []float64 // the guide's variational parameters, shape (V)
	Mean   []float64 // location m, shape (P)
	LogSD  []float64 // log of the guide's marginal standard deviation, shape (P)
	VarDP  []float64 // variance of Mean caused by the privacy noise, shape (P); zero when not modelled
	// NoiseFactor is F with FFᵀ the covariance of that noise, the lower triangle
	// row by row, P(P+1)/2 numbers; nil where its coordinates are independent.
	NoiseFactor []float64
	Steps       int   // completed steps; less than Plan.Steps when stopped early
	Trace       Trace // it may share memory with the fit in progress
	// Tries are those of the chains that drew a sample.
	Tries nuts.Tries
	// StepMisfit is known of a fit by second moments.
	StepMisfit *StepMisfit
}

// StepMisfit are the sums of squares of what released gradients differ from those that the model
// predicts at the posterior's mode, in standard deviations: the largest one of a coefficient, and that
// of log sigma. If the model is right, each is chi-squared with a degree of freedom a step.
type StepMisfit struct {
	Coefficients float64 `json:"coefficients"`
	Sigma        float64 `json:"sigma"`
	// LongTails is the probability that errors have longer tails than the normal's.
	LongTails float64 `json:"long_tails"`
}

// NewStepMisfit is that of the squares of each coefficient, at least one, and last of log sigma.
func NewStepMisfit(squares []float64, longTails float64) *StepMisfit {
	last := len(squares) - 1
	m := &StepMisfit{slices.Max(squares[:last]), squares[last], longTails}
	for _, x := range []*float64{&m.Coefficients, &m.Sigma} {
		if !(*x <= math.MaxFloat64) { // nor is NaN a number of JSON
			*x = math.MaxFloat64
		}
	}
	return m
}

// New is the posterior of a fit by p that released r: a sample or a joint normal where one can
// be had, else the guide itself. The error is the context's.
func New(ctx context.Context, p *plan.Plan, r Releases) (*Posterior, error) {
	post := ofReleases(ctx, p, r)
	if joins(p, r) {
		for _, refined := range []func(*plan.Plan, Releases, *Posterior) *Posterior{amplified, leveled, withScarceLevels} {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if better := refined(p, r, post); better != nil {
				post = better
			}
		}
	}
	return post.declared(), nil
}

// ofReleases is New in the coordinates of the plan's model. It is nil if the context ends first.
func ofReleases(ctx context.Context, p *plan.Plan, r Releases) *Posterior {
	if joins(p, r) {
		if p.NoiseAware == settings.NoiseAwareSample {
			if post := sampled(ctx, p, r); post != nil || ctx.Err() != nil {
				return post
			}
		}
		return jointOrGuide(p, r)
	}
	post := guidePosterior(p, r)
	if p.SumsGradients() && r.Steps > 0 {
		newCurvature(p, r.Gradients, r.Steps).locate(post, r.Averaged && p.Signal() >= minNewton)
	}
	return post
}

// jointOrGuide is the joint normal of a fit by p that released r, or the guide itself where it has none.
func jointOrGuide(p *plan.Plan, r Releases) *Posterior {
	c := newCurvature(p, r.Gradients, r.Steps)
	j := newJointNormal(p, r, c)
	post := guidePosterior(p, r)
	c.locate(post, false)
	if joint := post.clone(); j.makeJoint(joint) && joint.isFinite() {
		return joint
	}
	return post
}

// guidePosterior is the guide at the released parameters, with the variance of the noise
// that was followed through the optimizer.
func guidePosterior(p *plan.Plan, r Releases) *Posterior {
	post := &Posterior{
		Plan: p, Guide: r.Guide, Steps: r.Steps, Trace: r.Trace,
		Lambda: slices.Clone(r.Lambda), LogSD: make([]float64, p.Latent), VarDP: make([]float64, p.Latent),
	}
	copy(post.VarDP, r.NoiseVariance)
	post.Mean = guide.Location(r.Guide, post.Lambda)
	r.Guide.SD(post.LogSD, post.Lambda)
	for j, sd := range post.LogSD {
		post.LogSD[j] = math.Log(sd)
	}
	return post
}

// Independent reports whether, in a normal posterior, the coordinates lo ≤ j < hi correlate neither with one
// another nor with others. It is false of a sample.
func (p *Posterior) Independent(lo, hi int) bool {
	switch g := p.Guide.(type) {
	case guide.MeanField:
		return true
	case *guide.FullRank:
		n, at := len(p.Mean), 0
		factor := make([]float64, n*(n+1)/2)
		g.Factor(factor, p.Lambda)
		for j := range n {
			for k := range j + 1 {
				within := lo <= j && j < hi || lo <= k && k < hi
				if j != k && within && factor[at] != 0 {
					return false
				}
				at++
			}
		}
		return true
	}
	return false
}

// clone is a copy of a mean-field posterior whose numbers may be changed.
func (p *Posterior) clone() *Posterior {
	out := *p
	out.Lambda, out.LogSD, out.VarDP = slices.Clone(p.Lambda), slices.Clone(p.LogSD), slices.Clone(p.VarDP)
	out.Mean = guide.Location(out.Guide, out.Lambda)
	return &out
}

// isFinite reports whether all numbers of the posterior are finite.
func (p *Posterior) isFinite() bool {
	return simd.Finite(p.Lambda) && simd.Finite(p.LogSD) && simd.Finite(p.VarDP) && simd.Finite(p.NoiseFactor)
}

// SD sets dst (P) to the total standard deviations √(s² + var_dp).
func (p *Posterior) SD(dst []float64) {
	for j, v := range p.VarDP {
		dst[j] = math.Sqrt(math.Exp(2*p.LogSD[j]) + v)
	}
}

// NoiseShare sets dst (P) to the share of the privacy noise in each coordinate's
// total variance, var_dp/(s² + var_dp), from 0 to 1.
func (p *Posterior) NoiseShare(dst []float64) {
	for j, v := range p.VarDP {
		dst[j] = 0
		if v > 0 {
			dst[j] = v / (math.Exp(2*p.LogSD[j]) + v)
		}
	}
}

// Normals fills dst with independent draws from N(0, 1).
type Normals interface{ Normals(dst []float64) }

// Draws sets dst (S×P, row-major) to draws from the posterior with the noise
// variance added, on the unconstrained scale; models.Model.Constrain takes a
// draw to the scale of the model file.
func (p *Posterior) Draws(dst []float64, rng Normals) {
	latent := len(p.Mean)
	normals := make([]float64, p.Guide.Noise()+latent)
	eta, extra := normals[:p.Guide.Noise()], normals[p.Guide.Noise():]
	for ; len(dst) >= latent; dst = dst[latent:] {
		rng.Normals(normals)
		theta := dst[:latent]
		p.Guide.Draw(theta, p.Lambda, eta)
		p.addNoise(theta, extra)
	}
}

// factorRow is row j of NoiseFactor, j + 1 numbers.
func (p *Posterior) factorRow(j int) []float64 {
	start := j * (j + 1) / 2
	return p.NoiseFactor[start : start+j+1]
}

// addNoise adds a draw of the privacy noise to theta (P), made of the standard
// normals extra (P). Draws of a sample contain it.
func (p *Posterior) addNoise(theta, extra []float64) {
	if _, contained := p.Guide.(guide.Sample); contained {
		return
	}
	for j, v := range p.VarDP {
		if p.NoiseFactor == nil {
			theta[j] += math.Sqrt(v) * extra[j]
			continue
		}
		for k, x := range p.factorRow(j) {
			theta[j] += x * extra[k]
		}
	}
}

// NoiseVariance is the variance that the privacy noise gives Σ slope_j θ_j, slope
// of shape (P).
func (p *Posterior) NoiseVariance(slope []float64) float64 {
	sum := 0.0
	if p.NoiseFactor == nil {
		for j, s := range slope {
			sum += s * s * p.VarDP[j]
		}
		return sum
	}
	push := make([]float64, len(slope)) // Fᵀ slope
	for j, s := range slope {
		for k, x := range p.factorRow(j) {
			push[k] += s * x
		}
	}
	for _, x := range push {
		sum += x * x
	}
	return sum
}

// LogDensity is the log density of draws (S×P, row-major) under the posterior
// with its noise, of shape (S); nil for guides other than mean-field and
// full-rank.
func (p *Posterior) LogDensity(draws []float64) []float64 {
	switch g := p.Guide.(type) {
	case guide.MeanField:
		return p.independentDensity(draws)
	case *guide.FullRank:
		return p.jointDensity(draws, p.covariance(g))
	}
	return nil
}

// independentDensity is LogDensity of independent normals.
func (p *Posterior) independentDensity(draws []float64) []float64 {
	n := len(p.Mean)
	sd, out := make([]float64, n), make([]float64, len(draws)/n)
	p.SD(sd)
	for i := range out {
		for j, x := range draws[i*n : (i+1)*n] {
			z := (x - p.Mean[j]) / sd[j]
			out[i] -= z*z/2 + math.Log(sd[j]) + math.Log(2*math.Pi)/2
		}
	}
	return out
}

// jointDensity is LogDensity of a normal with the given covariance; nil where it
// has no inverse.
func (p *Posterior) jointDensity(draws []float64, covariance *mat.SymDense) []float64 {
	var c mat.Cholesky
	if !c.Factorize(covariance) {
		return nil
	}
	n := len(p.Mean)
	out := make([]float64, len(draws)/n)
	d, solved := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for i := range out {
		for j, x := range draws[i*n : (i+1)*n] {
			d.SetVec(j, x-p.Mean[j])
		}
		if c.SolveVecTo(solved, d) != nil {
			return nil
		}
		out[i] = -(mat.Dot(d, solved) + c.LogDet() + float64(n)*math.Log(2*math.Pi)) / 2
	}
	return out
}

// covariance is that of a full-rank guide and the noise together.
func (p *Posterior) covariance(g *guide.FullRank) *mat.SymDense {
	n := len(p.Mean)
	factor := make([]float64, n*(n+1)/2)
	g.Factor(factor, p.Lambda)
	out := product(factor, n)
	if p.NoiseFactor != nil {
		out.AddSym(out, product(p.NoiseFactor, n))
		return out
	}
	for j, v := range p.VarDP {
		out.SetSym(j, j, out.At(j, j)+v)
	}
	return out
}
