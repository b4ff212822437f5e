package main

import (
	"fmt"

	"d3p/internal/fit"
	"d3p/internal/models"
	"d3p/internal/privacy/noise"
	"d3p/internal/report"
)

// released is a release read back: all that the commands after a fit work from.
type released struct {
	dir       string
	model     *models.Model
	params    report.Parameters
	posterior *fit.Posterior
	privacy   *report.Privacy
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
	return &released{run, m, params, posterior, privacy}, nil
}

// draws draws from the released posterior: post-processing, which costs nothing.
// The seed is public; 0 and the fit's number of draws give draws.parquet again,
// unless the fit had another --seed.
func (r *released) draws(n int, seed uint64) report.Draws {
	return report.DrawPosterior(r.model, r.posterior, n, noise.Public(seed).Stream(noise.PosteriorDraws))
}

// sample is what files of draws are written from.
func (r *released) sample(n int, seed uint64) (*report.Sample, error) {
	sample := &report.Sample{
		Model: r.params.Model, Steps: r.params.Steps,
		Draws: r.draws(n, seed), Prior: report.DrawPrior(r.model, n, priorRandom(seed)), Invented: report.PriorPredictive(r.model, inventedRandom(seed)),
	}
	return sample, failWith(statusUsage, sample.Under(r.privacy))
}

// priorRandom is the source of draws from the prior: public, and not that of the
// draws from the posterior.
func priorRandom(seed uint64) *noise.Random {
	return noise.NewRandom(noise.Public(seed).Child(1).Stream(noise.PosteriorDraws))
}

// inventedRandom is the public source of tables from the prior.
func inventedRandom(seed uint64) *noise.Random {
	return noise.NewRandom(noise.Public(seed).Stream(noise.Simulation))
}
