package posterior

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/models/guide"
)

// OfSample is the posterior that a sampler drew under the settings of p: draws is
// S×P, row-major, at least two draws, the same number from each chain.
func OfSample(p *plan.Plan, draws []float64, chains int) *Posterior {
	latent := p.Latent
	g := guide.NewSample(latent, len(draws)/latent, chains)
	post := &Posterior{Plan: p, Guide: g, Lambda: g.Lambda(draws), VarDP: make([]float64, latent), Steps: p.Steps}
	post.Mean = guide.Location(g, post.Lambda)
	post.LogSD = LogSD(g, post.Lambda, post.VarDP)
	return post
}

// OfPoint is the posterior of a fit by p that released one point theta (P).
func OfPoint(p *plan.Plan, theta []float64) *Posterior {
	return guidePosterior(p, Releases{Guide: guide.NewDelta(p.Latent), Steps: p.Steps, Lambda: theta})
}

// OfPrivateSample is OfSample of a private fit in the coordinates of its plan's model.
// without is about the covariance that the posterior would have without privacy noise.
func OfPrivateSample(p *plan.Plan, r Releases, draws []float64, chains int, without *mat.SymDense) *Posterior {
	return samplePosterior(p, r, draws, chains, without).declared()
}

// samplePosterior is OfPrivateSample in the coordinates of the plan's model; without is nil if it is not known.
func samplePosterior(p *plan.Plan, r Releases, draws []float64, chains int, without *mat.SymDense) *Posterior {
	post := OfSample(p, draws, chains)
	post.Steps, post.Trace = r.Steps, r.Trace
	if without == nil {
		return post
	}
	_, total := meanCovariance(draws, p.Latent)
	if _, beyond := split(total, without); beyond != nil {
		post.setNoise(beyond)
	}
	return post
}

// LogSD is the log of the guide's marginal standard deviations without the variance
// varDP (P) of the noise, which the draws of a sample contain.
func LogSD(g guide.Guide, lambda, varDP []float64) []float64 {
	out := make([]float64, len(varDP))
	g.SD(out, lambda)
	_, contained := g.(guide.Sample)
	for j, sd := range out {
		if contained {
			sd = math.Sqrt(math.Max(0, sd*sd-varDP[j]))
		}
		out[j] = math.Log(sd)
	}
	return out
}

// setNoise sets the noise's part of a sample's covariance, unless it is not positive
// definite.
func (p *Posterior) setNoise(covariance *mat.SymDense) {
	sd := make([]float64, len(p.Mean))
	p.Guide.SD(sd, p.Lambda)
	for j := range sd { // the noise may have none in some directions
		covariance.SetSym(j, j, covariance.At(j, j)+1e-9*sd[j]*sd[j])
	}
	var c mat.Cholesky
	if !c.Factorize(covariance) {
		return
	}
	p.NoiseFactor = lower(&c)
	for j := range sd {
		p.VarDP[j] = math.Min(covariance.At(j, j), (1-1e-9)*sd[j]*sd[j])
	}
	p.LogSD = LogSD(p.Guide, p.Lambda, p.VarDP)
}

// Sequence is a function that sets theta (P) to the next of s draws. Of a sample of
// at least s draws these are s of its own, evenly spread, each once; else draws are
// independent.
func (p *Posterior) Sequence(s int, rng Normals) func(theta []float64) {
	g, ok := p.Guide.(guide.Sample)
	if !ok || s > g.Draws() {
		return func(theta []float64) { p.Draws(theta, rng) }
	}
	i := 0
	return func(theta []float64) {
		g.At(theta, p.Lambda, i*g.Draws()/s)
		i++
	}
}
