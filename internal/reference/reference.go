// Package reference draws from the posterior without privacy, to compare private fits
// with: by the No-U-Turn sampler, on all records. Its results are not private.
//
// Letters: P unconstrained scalars θ, C chains, S draws of a chain.
package reference

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/nuts"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
)

// Options are the lengths of the chains. The zero value of a field is its default.
type Options struct {
	Chains int // default 4
	Warmup int // transitions of each chain; default 1000
	Draws  int // of each chain; default 1000
	// Parallel is the number of chains that run at once; default all.
	Parallel int
	// Seed is public: it fixes the starts and the draws.
	Seed uint64
	// Progress is called with the number of transitions done in all chains, from
	// any of them; it may be nil.
	Progress func(done int)
}

func (o Options) withDefaults() Options {
	for _, f := range []struct {
		of    *int
		value int
	}{{&o.Chains, 4}, {&o.Warmup, 1000}, {&o.Draws, 1000}} {
		*f.of = cmp.Or(*f.of, f.value)
	}
	o.Parallel = cmp.Or(o.Parallel, o.Chains)
	return o
}

// Sample draws from the posterior of m given the records of the curators that open
// returns, one for each chain, when the chain begins: with Parallel 1 it may be the same
// curator. Every curator's ledger is marked as not private. The error is open's, the
// engine's or the context's, or the reason why this model has no log likelihood to
// sample.
func Sample(ctx context.Context, m *models.Model, open func(chain int) (*privacy.Curator, error), o Options) (*Sampled, error) {
	o = o.withDefaults()
	tape, err := m.DensityTape()
	if err != nil {
		return nil, err
	}
	s := &Sampled{Chains: make([]*nuts.Chain, o.Chains), Tries: make([]nuts.Tries, o.Chains)}
	var done atomic.Int64
	var opening sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.Parallel)
	for c := range o.Chains {
		group.Go(func() (err error) {
			opening.Lock()
			target, err := newTarget(m, tape, c, open)
			opening.Unlock()
			if err != nil {
				return err
			}
			defer func() { err = cmp.Or(err, target.close()) }()
			rng := noise.NewRandom(noise.Public(o.Seed).Child(uint64(c)).Stream(noise.Initialisation))
			options := nuts.Options{Warmup: o.Warmup, Draws: o.Draws, Dense: m.P <= nuts.DenseMost, Scales: m.Scales()}
			if o.Progress != nil {
				options.Progress = func(int) { o.Progress(int(done.Add(1))) }
			}
			s.Chains[c], s.Tries[c], err = target.sample(ctx, options, rng)
			return err
		})
	}
	if group.Wait() != nil {
		return nil, context.Cause(ctx)
	}
	return s, nil
}

// target is log p(θ | records) of one chain.
type target struct {
	model   *models.Model
	session *privacy.Session
	prior   *graph.Machine
	params  []float64 // θ, 1, 0: see models.DensityTape
	sums    []float64 // P+2
	records float64   // that count; NaN: those at the next point
}

func newTarget(m *models.Model, tape *graph.Tape, chain int, open func(int) (*privacy.Curator, error)) (*target, error) {
	curator, err := open(chain)
	if err != nil {
		return nil, err
	}
	session, err := curator.BeginNonPrivate(privacy.Mechanism{
		Purpose: "fit-nonprivate", Tape: tape, Sampler: sampler.Config{Scheme: sampler.Full}, Steps: math.MaxInt32,
		Clip: privacy.Clip{Kind: privacy.Unclipped},
	})
	if err != nil {
		return nil, err
	}
	t := &target{model: m, session: session, prior: graph.NewMachine(m.Prior, 1), params: make([]float64, tape.P), sums: make([]float64, tape.P), records: math.NaN()}
	t.params[m.P] = 1
	return t, nil
}

func (t *target) close() error { return t.session.Close() }

// density implements nuts.Density. Where a record has no finite gradient the
// density is zero: that record's part of the sums is missing.
func (t *target) density(gradient, theta []float64) (float64, error) {
	p := t.model.P
	copy(t.params, theta)
	if _, err := t.session.Step(t.sums, privacy.StepRequest{Params: t.params, ClipNorm: math.MaxFloat64}); err != nil {
		return 0, err
	}
	t.prior.Globals(theta, nil)
	t.prior.GlobalGradient(gradient)
	for j := range gradient {
		gradient[j] += t.sums[j]
	}
	if math.IsNaN(t.records) {
		t.records = t.sums[p+1]
	}
	if t.sums[p+1] != t.records {
		return math.Inf(-1), nil
	}
	return t.prior.Loss()[0] + t.sums[p], nil
}

// sample runs the chain from near the model's start values.
func (t *target) sample(ctx context.Context, o nuts.Options, rng nuts.Rand) (*nuts.Chain, nuts.Tries, error) {
	if err := t.count(rng); err != nil {
		return nil, nuts.Tries{}, wrapped(err)
	}
	standard := t.model.StandardNormal()
	near := func(start []float64) {
		t.model.NearStarts(start, rng)
		standard.Standard(start, start)
	}
	chain, tries, err := nuts.UntilMixed(o, func(o nuts.Options) (*nuts.Chain, error) {
		return nuts.SampleNear(ctx, standard.Density(t.density), t.model.P, near, o, rng)
	})
	if err != nil {
		return nil, tries, wrapped(err)
	}
	standard.Thetas(chain.Draws)
	return chain, tries, nil
}

// countedStarts is the number of points at which count looks for the records that count.
const countedStarts = 10

// count sets records to the most that count at the model's start values and at points near
// them. At one point alone some may not, as where exp overflows, and the chain would leave
// them out.
func (t *target) count(rng nuts.Rand) error {
	theta, gradient, most := make([]float64, t.model.P), make([]float64, t.model.P), 0.0
	for i := range countedStarts {
		if i == 0 {
			t.model.NearStarts(theta, middle{})
		} else {
			t.model.NearStarts(theta, rng)
		}
		t.records = math.NaN()
		if _, err := t.density(gradient, theta); err != nil {
			return err
		}
		most = math.Max(most, t.records)
	}
	t.records = most
	return nil
}

// middle is a source of uniform numbers at their mean.
type middle struct{}

func (middle) Uniform() float64 { return 0.5 }

func wrapped(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("reference posterior: %w", err)
}
