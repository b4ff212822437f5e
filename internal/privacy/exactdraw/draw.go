package exactdraw

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/privacy/noise"
)

// Draw is a draw of φ (d). An error is that of ctx alone. How long it takes depends on the
// records: tries is how many proposals it took.
func (p *Posterior) Draw(ctx context.Context, src *noise.Stream) (phi []float64, tries int, err error) {
	s := p.sampler()
	for ctx.Err() == nil {
		tries++
		if phi, ok := s.try(src); ok {
			return phi, tries, nil
		}
	}
	return nil, tries, ctx.Err()
}

// sampler draws by rejection.
type sampler struct {
	p *Posterior
	q *proposal
	// most is at least −U − log q at every place, q the probability of the proposal.
	most  float64
	place []int64
	phi   []float64
}

func (p *Posterior) sampler() *sampler {
	mode, gradient, root := p.mode()
	best, leverages := p.samplerBy(p, mode, gradient, root), p.leverages(mode, root)
	for _, bound := range []float64{1. / 2, 1. / 8, 1. / 32} {
		kept, all := p.below(bound, leverages)
		if all {
			continue
		}
		hessian, own := mat.NewSymDense(p.d, nil), new(mat.Cholesky)
		kept.slope(make([]float64, p.d), hessian, mode)
		if !own.Factorize(hessian) {
			panic("exactdraw: the curvature of a strongly convex function has no root")
		}
		if s := p.samplerBy(kept, mode, gradient, own); s.most < best.most { // e^most is in proportion to the tries
			best = s
		}
	}
	return best
}

// samplerBy is a sampler whose proposal and envelope have the curvature of the terms kept, with this root.
func (p *Posterior) samplerBy(kept *Posterior, mode, gradient []float64, root *mat.Cholesky) *sampler {
	e := kept.envelope(mode, gradient, root)
	q := newProposal(mode, root, e.prior)
	q.share(q.best(e))
	return &sampler{p: p, q: q, most: q.excess(e) - p.Energy(mode, math.Inf(1)), place: make([]int64, p.d), phi: make([]float64, p.d)}
}

// try draws a proposal and accepts it with probability exp(−U − log q − most).
func (s *sampler) try(src *noise.Stream) ([]float64, bool) {
	room := exponential(src)
	if !s.q.draw(s.place, src) {
		return nil, false
	}
	square := 0.0
	for i, k := range s.place {
		s.phi[i] = float64(k) * spacing
		square += s.phi[i] * s.phi[i]
	}
	if square > s.p.radius*s.p.radius {
		return nil, false
	}
	limit := room - s.most - s.q.logProbability(s.place)
	return s.phi, s.p.Energy(s.phi, limit) <= limit
}

// exponential is a draw from the exponential distribution with mean 1 (von Neumann 1951: a
// whole part, each of whose ones has probability 1/e, and a part below 1 by rejection).
func exponential(src *noise.Stream) float64 {
	whole := 0.0
	for src.Uint64() < uint64(0x5e2d58d8b3bcdf1b) { // 2^64/e, rounded
		whole++
	}
	for {
		part := src.Float64()
		if src.Float64() < math.Exp(-part) {
			return whole + part
		}
	}
}
