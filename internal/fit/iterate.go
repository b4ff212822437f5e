package fit

import (
	"context"
	"errors"

	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// ErrStopped means that the fit was cancelled between two steps or while its posterior was computed.
// The ledger has the price, and the checkpoint continues from there.
var ErrStopped = errors.New("stopped before its end; the ledger has its price (d3p resume continues)")

// iterate takes the remaining steps, many at a time if the oracle can. eta is the public
// stream of reparameterisation noise; each step seeks it, so that a continued fit draws the
// same numbers. If ctx is cancelled, iterate stops between two steps with ErrStopped.
func (l *Loop) iterate(ctx context.Context, oracle Oracle, prior Prior, eta *noise.Stream, after func(step int)) error {
	one, many := newSingleStep(l, oracle, prior), newDeviceSteps(l, oracle, prior)
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
		if err := one.take(l, eta); err != nil {
			return err
		}
		after(l.state.Step)
	}
	return nil
}

// singleStep takes one step on the host.
type singleStep struct {
	oracle  Oracle
	prior   Prior
	release []float64 // D
	slope   []float64 // the prior's gradient, shape (P); nil if it is inside the clip
	draw    []float64 // E
}

func newSingleStep(l *Loop, oracle Oracle, prior Prior) *singleStep {
	s := &singleStep{oracle: oracle, prior: prior, release: make([]float64, l.plan.Release), draw: make([]float64, l.guide.Noise())}
	if !l.vanilla {
		s.slope = make([]float64, l.plan.Latent)
	}
	return s
}

// take takes the next step of l.
func (s *singleStep) take(l *Loop, eta *noise.Stream) error {
	eta.Seek(uint64(l.state.Step))
	var count float64
	for d := range l.plan.Draws {
		if d%2 == 0 {
			eta.Normals(s.draw)
		} else {
			negate(s.draw) // antithetic: the gradients of a normal posterior then average to the gradient at m
		}
		theta := l.Propose(s.draw)
		var err error
		if count, err = s.oracle.Step(s.release, l.Query(), l.state.ClipNorm); err != nil {
			return err
		}
		if s.slope != nil {
			s.prior.Gradient(s.slope, theta)
		}
		l.Absorb(s.release, s.slope)
	}
	return l.Advance(count)
}

func negate(x []float64) {
	for i := range x {
		x[i] = -x[i]
	}
}
