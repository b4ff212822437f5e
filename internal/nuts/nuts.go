// Package nuts draws from a posterior by the No-U-Turn sampler and diagnoses the draws.
//
// Letters: D unconstrained scalars, S draws of a chain, C chains.
package nuts

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Options are the length of a chain and its adaptation. The zero value of a field is its
// default.
type Options struct {
	Warmup     int     // transitions that adapt step and metric; default 1000
	Draws      int     // transitions that are kept; default 1000
	Acceptance float64 // mean acceptance probability to tune to; default 0.8
	MaxDepth   int     // a trajectory has at most 2^MaxDepth steps; default 10
	// Dense estimates the whole covariance of the posterior, of D² numbers, and not
	// its diagonal alone.
	Dense bool
	// Covariance is a first estimate of the posterior's covariance; nil for the
	// identity. Later estimates are shrunk towards it. It needs Dense.
	Covariance *mat.SymDense
	// Fixed: the metric stays Covariance.
	Fixed bool
	// Scales are the coordinates that are logarithms of scales: SampleNear finds what they
	// scale, see centring. It needs Dense.
	Scales []int
	// Progress is called after each transition with their number so far; it may be nil.
	Progress func(done int)
}

// Chain holds the draws of one chain.
type Chain struct {
	Draws       []float64 // S×D, row-major
	LogDensity  []float64 // S
	Energy      []float64 // S, H at the start of each trajectory
	Acceptance  float64   // mean acceptance probability
	Divergences int       // transitions whose trajectory diverged
	Saturated   int       // transitions that reached MaxDepth
	Step        float64   // the step that was tuned
	Evaluations int       // of the density, warm-up included
}

// ErrNoStart is returned when the log density is not finite at the start.
var ErrNoStart = errors.New("nuts: the log density is not finite at the start")

func (o Options) withDefaults() Options {
	o.Warmup = cmp.Or(o.Warmup, 1000)
	o.Draws = cmp.Or(o.Draws, 1000)
	o.Acceptance = cmp.Or(o.Acceptance, 0.8)
	o.MaxDepth = cmp.Or(o.MaxDepth, 10)
	return o
}

// Sample runs one chain from start, length D. It adapts as Stan does: step size
// throughout the warm-up, metric in windows of doubling length (Stan reference
// manual, section 15.2). The error is ErrNoStart, the density's, or the
// context's; the chain is nil then.
func Sample(ctx context.Context, density Density, start []float64, o Options, rng Rand) (*Chain, error) {
	o = o.withDefaults()
	size := len(start)
	h, at, err := begin(density, start, o)
	if err != nil {
		return nil, err
	}
	t := newTree(h, size, o.MaxDepth, rng)
	adapt := stepSize{target: o.Acceptance}
	adapt.restart(reasonableStep(h, &at, 1, rng))
	windows := windowEnds(o.Warmup)
	estimate := newCovarianceEstimate(size, o.Dense)
	chain := &Chain{Draws: make([]float64, 0, o.Draws*size), LogDensity: make([]float64, 0, o.Draws), Energy: make([]float64, 0, o.Draws)}
	for i := range o.Warmup + o.Draws {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if i == o.Warmup {
			chain.Step = adapt.final()
		}
		warm := i < o.Warmup
		t.step = chain.Step
		if warm {
			t.step = adapt.step()
		}
		r := t.next(&at)
		if h.err != nil {
			return nil, h.err
		}
		if warm {
			adapt.update(r.acceptance)
			if windows.within(i) {
				estimate.add(at.x)
			}
			if windows.ends(i) && !o.Fixed {
				if m := estimate.metric(o.Covariance); m != nil {
					h.metric = m
					adapt.restart(reasonableStep(h, &at, adapt.step(), rng))
				}
				estimate = newCovarianceEstimate(size, o.Dense)
			}
		} else {
			chain.keep(&at, r, o.MaxDepth)
		}
		if o.Progress != nil {
			o.Progress(i + 1)
		}
	}
	chain.Acceptance /= float64(o.Draws)
	chain.Evaluations = h.evaluations
	return chain, nil
}

// begin is a chain's energy and its starting point.
func begin(density Density, start []float64, o Options) (*hamiltonian, point, error) {
	size := len(start)
	h := &hamiltonian{density: density, metric: unitMetric(size)}
	if o.Covariance != nil {
		if m := newDenseMetric(o.Covariance); m != nil {
			h.metric = m
		}
	}
	at := newPoint(size)
	copy(at.x, start)
	h.evaluate(&at)
	switch {
	case h.err != nil:
		return nil, at, h.err
	case !isFinite(at.logDensity):
		return nil, at, ErrNoStart
	}
	return h, at, nil
}

// keep adds a draw.
func (c *Chain) keep(p *point, r transition, maxDepth int) {
	c.Draws = append(c.Draws, p.x...)
	c.LogDensity = append(c.LogDensity, p.logDensity)
	c.Energy = append(c.Energy, r.energy)
	c.Acceptance += r.acceptance
	if r.divergent {
		c.Divergences++
	}
	if r.depth >= maxDepth {
		c.Saturated++
	}
}

func unitMetric(size int) metric { return diagonalMetric{slices.Repeat([]float64{1}, size)} }
