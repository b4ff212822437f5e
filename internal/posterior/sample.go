package posterior

import (
	"math"

	"d3p/internal/fit/plan"
	"d3p/internal/models/guide"
)

// OfSample is the posterior that a sampler drew under the settings of p: draws is
// S×P, row-major, at least two draws, the same number from each chain.
func OfSample(p *plan.Plan, draws []float64, chains int) *Posterior {
	latent := p.Latent
	g := guide.NewSample(latent, len(draws)/latent, chains)
	post := &Posterior{
		Plan: p, Guide: g, Lambda: g.Lambda(draws), LogSD: make([]float64, latent), VarDP: make([]float64, latent), Steps: p.Steps,
	}
	post.Mean = guide.Location(g, post.Lambda)
	g.SD(post.LogSD, post.Lambda)
	for j, sd := range post.LogSD {
		post.LogSD[j] = math.Log(sd)
	}
	return post
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
