package fit

import (
	"context"
	"errors"

	"d3p/internal/fit/plan"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// ErrStopped is returned when a fit was cancelled between two steps. What was
// spent is in the ledger, and the checkpoint continues from there.
var ErrStopped = errors.New("stopped before the last step; what was spent so far is recorded (d3p resume continues)")

// Oracle answers the gradient query of one step: it sets dst (D) to the noisy
// sum of clipped gradients at params and aux, and returns the noisy count of
// unclipped ones, Σ (1[|g| ≤ C] − ½), if the plan bought it.
type Oracle interface {
	Step(dst, params, aux []float64, clipNorm float64) (count float64, err error)
}

// Prior gives the part of the gradient that depends on no record: it sets
// dst (P) to ∂ log p(θ)/∂θ on the unconstrained scale, Jacobians included.
type Prior interface {
	Gradient(dst, theta []float64)
}

// Observer is told of each completed step, 1 ≤ t ≤ T. epsilonSpent computes
// the ε of the steps done, which may take milliseconds.
type Observer interface {
	Step(t, T int, epsilonSpent func() float64)
}

// Keeper is an Observer that also wants to keep the state of a running fit. Keep
// is called after each step, and calls checkpoint when it is time to.
type Keeper interface {
	Observer
	Keep(checkpoint func() (Checkpoint, error))
}

// run drives l to its last step. eta is the public stream of reparameterisation
// noise, sought to each step so that a continued fit draws the same numbers.
// Cancelling ctx stops between two steps with ErrStopped.
func (l *Loop) run(ctx context.Context, oracle Oracle, prior Prior, eta *noise.Stream, after func(step int)) error {
	p := l.plan
	release, priorGrad := make([]float64, p.Release), make([]float64, p.Latent)
	inside := p.PriorGradient == plan.PriorInside
	if inside {
		priorGrad = nil
	}
	draw := make([]float64, l.guide.Noise())
	many := newAhead(l, oracle, prior)
	for !l.Done() {
		if ctx.Err() != nil {
			return ErrStopped
		}
		if many != nil {
			switch done, err := many.take(l, eta); {
			case errors.Is(err, privacy.ErrNotStepping):
				many = nil
			case err != nil:
				return err
			case done > 0:
				after(l.state.Step)
				continue
			}
		}
		eta.Seek(uint64(l.state.Step))
		var count float64
		for d := range p.Draws {
			if d%2 == 0 {
				eta.Normals(draw)
			} else {
				negate(draw) // antithetic: a normal posterior's gradients then average to the one at m
			}
			theta := l.Propose(draw)
			params, aux := l.Query()
			var err error
			if count, err = oracle.Step(release, params, aux, l.state.ClipNorm); err != nil {
				return err
			}
			if !inside {
				prior.Gradient(priorGrad, theta)
			}
			l.Absorb(release, priorGrad)
		}
		if err := l.Advance(count); err != nil {
			return err
		}
		after(l.state.Step)
	}
	return nil
}

func negate(x []float64) {
	for i := range x {
		x[i] = -x[i]
	}
}
