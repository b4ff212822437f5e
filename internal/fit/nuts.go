package fit

import (
	"context"
	"encoding/json"
	"errors"
	"math"

	"d3p/internal/fit/plan"
	"d3p/internal/posterior"
	"d3p/internal/privacy"
	"d3p/internal/reference"
)

// sample draws from the posterior without privacy, one chain after the other: the
// curator has one session at a time. A cancelled run has no result.
func sample(ctx context.Context, p *plan.Plan, c *privacy.Curator, obs Observer) (Result, error) {
	sampled, err := reference.Sample(ctx, p.Model(), func(int) (*privacy.Curator, error) { return c, nil }, reference.Options{
		Chains: plan.Chains, Warmup: plan.Warmup, Draws: plan.Kept, Parallel: 1, Seed: p.InitSeed,
		Progress: func(done int) {
			if obs != nil {
				obs.Step(done, p.Steps, func() float64 { return math.Inf(1) })
			}
		},
	})
	if errors.Is(err, context.Canceled) {
		err = errors.Join(ErrStopped, err)
	}
	if err != nil {
		return Result{Spent: c.Ledger()}, err
	}
	return ofSample(p, sampled.Draws(), c.Ledger()), nil
}

// ofSample is the result of a fit that drew draws.
func ofSample(p *plan.Plan, draws []float64, spent privacy.Ledger) Result {
	return Result{Posterior: posterior.OfSample(p, draws, plan.Chains), Spent: spent, sample: draws}
}

// sampledCheckpoint is the checkpoint of a finished fit that drew draws.
func (r Result) sampledCheckpoint() (Checkpoint, error) {
	raw, err := json.Marshal(r.Spent)
	return Checkpoint{Format: checkpointFormat, Plan: r.Posterior.Plan, Sample: r.sample, Ledger: raw}, err
}
