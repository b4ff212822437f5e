package fit

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"sync"

	"d3p/internal/fit/plan"
	"d3p/internal/posterior"
	"d3p/internal/privacy"
	"d3p/internal/reference"
	"d3p/internal/sufficient"
)

// Sample draws from the posterior without privacy. A curator has one session at a time, so
// chains run side by side on the curators that more opens on the same records; without
// more, one after the other. A cancelled run has no result.
func Sample(ctx context.Context, p *plan.Plan, c *privacy.Curator, more *Curators, obs Observer) (Result, error) {
	var lock sync.Mutex
	most := 0
	options := reference.Options{
		Chains: plan.Chains, Warmup: plan.Warmup, Draws: plan.Kept, Parallel: 1, Seed: p.InitSeed,
		Progress: func(done int) {
			lock.Lock()
			defer lock.Unlock()
			if obs != nil && done > most {
				most = done
				obs.Step(done, p.Steps, func() float64 { return math.Inf(1) })
			}
		},
	}
	open := func(int) (*privacy.Curator, error) { return c, nil }
	if more != nil && more.SideBySide > 1 {
		options.Parallel = more.SideBySide
		open = func(chain int) (*privacy.Curator, error) {
			if chain == 0 {
				return c, nil
			}
			return more.Open(chain)
		}
	}
	sampled, err := reference.Sample(ctx, p.Model(), open, options)
	if errors.Is(err, context.Canceled) {
		err = errors.Join(ErrStopped, err)
	}
	if err != nil {
		return Result{Spent: c.Ledger()}, err
	}
	result := ofSample(p, sampled.Draws(), c.Ledger())
	for c, chain := range sampled.Chains {
		result.Divergences += chain.Divergences
		result.Posterior.Tries = result.Posterior.Tries.Plus(sampled.Tries[c])
	}
	return result, nil
}

// Curators opens a curator on the same records for each chain but the first.
type Curators struct {
	SideBySide int
	Open       func(chain int) (*privacy.Curator, error)
}

// ofSample is the result of a fit by a sampler.
func ofSample(p *plan.Plan, draws []float64, spent privacy.Ledger) Result {
	return Result{Posterior: posterior.OfSample(p, draws, plan.Chains), Spent: spent, sample: draws}
}

// sampledCheckpoint is the checkpoint of a finished fit by a sampler.
func (r Result) sampledCheckpoint() (Checkpoint, error) {
	raw, err := json.Marshal(r.Spent)
	return Checkpoint{Format: checkpointFormat, Plan: r.Posterior.Plan, Sample: r.sample, Ledger: raw}, err
}

// drawPosterior releases one draw of the plan's generalised posterior.
func drawPosterior(ctx context.Context, p *plan.Plan, c *privacy.Curator, obs Observer) (Result, error) {
	if p.DrawsExactly() {
		return drawExactly(ctx, p, c, obs)
	}
	m, err := p.PosteriorDraw()
	if err != nil {
		return Result{Spent: c.Ledger()}, err
	}
	if obs != nil {
		m.Progress = func(done int) { obs.Step(done, m.Chains*(m.Warmup+m.Kept), func() float64 { return p.Epsilon }) }
	}
	draw, err := c.DrawPosterior(ctx, m)
	return ofOneRelease(p, draw, c.Ledger(), err)
}

// drawExactly releases one exact draw of the posterior of the plan's logistic regression.
func drawExactly(ctx context.Context, p *plan.Plan, c *privacy.Curator, obs Observer) (Result, error) {
	m, places, err := p.LogisticDraw()
	if err != nil {
		return Result{Spent: c.Ledger()}, err
	}
	if obs != nil {
		obs.Step(0, 1, func() float64 { return p.Epsilon })
	}
	draw, err := c.DrawLogistic(ctx, m)
	return ofOneRelease(p, placed(p, draw, places), c.Ledger(), err)
}

// placed is θ with coefficients at their places.
func placed(p *plan.Plan, coefficients []float64, places []int) []float64 {
	theta := make([]float64, p.Latent)
	for i, x := range coefficients {
		theta[places[i]] = x
	}
	return theta
}

// minimise releases the perturbed optimum of the plan's logistic regression.
func minimise(ctx context.Context, p *plan.Plan, c *privacy.Curator) (Result, error) {
	m, places, err := p.LogisticOptimum()
	if err != nil {
		return Result{Spent: c.Ledger()}, err
	}
	optimum, err := c.MinimiseLogistic(ctx, m)
	return ofOneRelease(p, placed(p, optimum, places), c.Ledger(), err)
}

// estimateBySquares releases the estimate of AdaSSP.
func estimateBySquares(p *plan.Plan, c *privacy.Curator) (Result, error) {
	b, err := p.AdaSSP()
	if err != nil {
		return Result{Spent: c.Ledger()}, err
	}
	theta := make([]float64, p.Latent)
	values, err := c.Moments("fit", b.Design(p.NoiseMultiplier))
	if err == nil {
		m := sufficient.Moments{P: b.Columns() + 1, Values: values, Noise: p.NoiseMultiplier * b.Bound}
		gamma, variance := m.AdaSSP()
		b.Theta(theta, gamma, variance)
	}
	return ofOneRelease(p, theta, c.Ledger(), err)
}

// ofOneRelease is the result of a fit that released theta (P), unless it failed.
func ofOneRelease(p *plan.Plan, theta []float64, spent privacy.Ledger, failed error) (Result, error) {
	if errors.Is(failed, context.Canceled) {
		failed = errors.Join(ErrStopped, failed)
	}
	if failed != nil {
		return Result{Spent: spent}, failed
	}
	return Result{Posterior: posterior.OfPoint(p, theta), Spent: spent, sample: theta}, nil
}
