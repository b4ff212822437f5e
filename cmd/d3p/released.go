package main

import (
	"fmt"

	"d3p/internal/models"
	"d3p/internal/posterior"
	"d3p/internal/privacy/noise"
	"d3p/internal/report"
)

// released is a release read back: all that the commands after a fit work from.
type released struct {
	dir       string
	model     *models.Model
	params    report.Parameters
	posterior *posterior.Posterior
	privacy   *report.Privacy
	drawn     drawn // by the fit
}

// drawn says which draws from the posterior are taken: how many, and their public
// seed.
type drawn struct {
	n    int
	seed uint64
}

// readReleased reads the release of a run; run is its folder, or release/ itself.
func readReleased(run string) (*released, error) {
	lock, params, err := report.ReadRelease(run)
	if err != nil {
		return nil, failWith(statusUsage, err)
	}
	privacy, err := report.ReadPrivacy(run)
	if err != nil {
		return nil, failWith(statusUsage, err)
	}
	s, err := parseSpec("spec.lock.yaml", lock, func(name string) ([]byte, error) { return report.ReadPublic(run, name) })
	if err != nil {
		return nil, err
	}
	m, err := models.Compile(s)
	if err != nil {
		return nil, failWith(statusSpec, err)
	}
	posterior, err := params.Posterior(m)
	if err != nil {
		return nil, failWith(statusSpec, fmt.Errorf("%s: %w", run, err))
	}
	r := &released{dir: run, model: m, params: params, posterior: posterior, privacy: privacy}
	r.drawn.n, r.drawn.seed, err = report.ReadDrawn(run)
	return r, failWith(statusUsage, err)
}

// draws draws from the released posterior: post-processing, which costs nothing.
// What the fit took gives draws.parquet again.
func (r *released) draws(d drawn) report.Draws {
	return report.DrawPosterior(r.model, r.posterior, d.n, noise.Public(d.seed).Stream(noise.PosteriorDraws))
}

// sample is what files of draws are written from.
func (r *released) sample(d drawn) (*report.Sample, error) {
	sample := &report.Sample{
		Model: r.params.Model, Steps: r.params.Steps,
		Draws: r.draws(d), Prior: report.DrawPrior(r.model, d.n, priorRandom(d.seed)), Simulated: report.PriorPredictive(r.model, simulatedRandom(d.seed)),
	}
	return sample, failWith(statusUsage, sample.Under(r.privacy))
}

// priorRandom is the source of draws from the prior: public, and not that of the
// draws from the posterior.
func priorRandom(seed uint64) *noise.Random {
	return noise.NewRandom(noise.Public(seed).Child(1).Stream(noise.PosteriorDraws))
}

// simulatedRandom is the public source of tables from the prior.
func simulatedRandom(seed uint64) *noise.Random {
	return noise.NewRandom(noise.Public(seed).Stream(noise.Simulation))
}
