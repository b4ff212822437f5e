package fit

import (
	"math"

	"d3p/internal/fit/plan"
	"d3p/internal/models/guide"
)

// Posterior is the released approximation of the posterior, on the
// unconstrained scale: the guide at the averaged iterates, and how far the
// privacy noise may have moved its location.
type Posterior struct {
	Plan  *plan.Plan
	Guide guide.Guide

	Lambda []float64 // averaged variational parameters, shape (V)
	Mean   []float64 // location m, shape (P)
	LogSD  []float64 // log of the guide's marginal standard deviation, shape (P)
	VarDP  []float64 // variance of Mean caused by the privacy noise, shape (P); zero when not modelled
	// NoiseFactor is F with FFᵀ the covariance of that noise, the lower triangle
	// row by row, P(P+1)/2 numbers; nil where its coordinates are independent.
	NoiseFactor []float64
	Steps       int   // completed steps; less than Plan.Steps when stopped early
	Trace       Trace // iterates, thinned; it may share memory with the fit in progress

	loop *Loop
}

// Normals fills dst with independent draws from N(0, 1).
type Normals interface{ Normals(dst []float64) }

// Posterior returns the result so far: the average of the iterates, or the
// current one before averaging has begun.
func (l *Loop) Posterior() *Posterior {
	s := &l.state
	p := l.plan.Latent
	post := &Posterior{
		Plan: l.plan, Guide: l.guide, Steps: s.Step, Trace: s.Trace, loop: l,
		Lambda: make([]float64, len(s.Lambda)), LogSD: make([]float64, p), VarDP: make([]float64, p),
	}
	if s.Average.Count > 0 {
		copy(post.Lambda, s.Average.Mean)
		s.Noise.ofMean(post.VarDP)
	} else {
		copy(post.Lambda, s.Lambda)
		copy(post.VarDP, s.Noise.Variance)
	}
	if !l.plan.ModelsNoise() {
		clear(post.VarDP)
	}
	post.Mean = guide.Location(l.guide, post.Lambda)
	l.guide.SD(post.LogSD, post.Lambda)
	for j, sd := range post.LogSD {
		post.LogSD[j] = math.Log(sd)
	}
	if l.plan.NoiseAware == plan.NoiseAwareCurvature && s.Step > 0 {
		s.Curvature.locate(post.Mean, post.LogSD, post.VarDP, s.Average.Count > 0 && l.plan.Signal() >= minNewton && !l.joins())
		copy(post.Lambda[p:], post.LogSD) // Mean is Lambda's first half already
	}
	return post
}

// SD sets dst (P) to the total standard deviations √(s² + var_dp).
func (p *Posterior) SD(dst []float64) {
	for j, v := range p.VarDP {
		dst[j] = math.Sqrt(math.Exp(2*p.LogSD[j]) + v)
	}
}

// NoiseShare sets dst (P) to the part of each coordinate's total variance that
// stands for the privacy noise, var_dp/(s² + var_dp), from 0 to 1.
func (p *Posterior) NoiseShare(dst []float64) {
	for j, v := range p.VarDP {
		dst[j] = 0
		if v > 0 {
			dst[j] = v / (math.Exp(2*p.LogSD[j]) + v)
		}
	}
}

// Draws sets dst (S×P, row-major) to draws from the posterior with the noise
// variance added, on the unconstrained scale; models.Model.Constrain takes a
// draw to the scale of the model file. Post-processing: it costs nothing.
func (p *Posterior) Draws(dst []float64, rng Normals) {
	latent := len(p.Mean)
	noise := make([]float64, p.Guide.Noise()+latent)
	eta, extra := noise[:p.Guide.Noise()], noise[p.Guide.Noise():]
	for ; len(dst) >= latent; dst = dst[latent:] {
		rng.Normals(noise)
		theta := dst[:latent]
		p.Guide.Draw(theta, p.Lambda, eta)
		p.addNoise(theta, extra)
	}
}
