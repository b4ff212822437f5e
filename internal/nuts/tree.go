package nuts

import (
	"math"

	"d3p/internal/simd"
)

// maxEnergyError is the error of H beyond which a trajectory counts as divergent.
const maxEnergyError = 1000

// tree draws the next point of a chain from a trajectory that doubles until it
// turns back: the multinomial No-U-Turn sampler with the generalised criterion.
// Hoffman and Gelman 2014, JMLR 15, Alg. 3; Betancourt 2017, arXiv:1701.02434,
// appendix A.4.
type tree struct {
	h        *hamiltonian
	rng      Rand
	maxDepth int
	step     float64

	start, current, sample, proposal point
	ends                             [2]point // of the trajectory: backward, forward
	outer                            [2]edge  // at the ends
	inner                            [2]edge  // of the last two halves, at their common end
	total                            []float64
	halves                           [2][]float64
	extended                         []float64
	levels                           []level
	result                           transition
	initial                          float64 // H at the start
}

// edge is the momentum at one end of a subtree, and the velocity there.
type edge struct{ momentum, velocity []float64 }

func newEdge(size int) edge { return edge{make([]float64, size), make([]float64, size)} }

func (e *edge) set(f *edge) {
	copy(e.momentum, f.momentum)
	copy(e.velocity, f.velocity)
}

// at sets e to p.
func (e *edge) at(p *point) {
	copy(e.momentum, p.momentum)
	copy(e.velocity, p.velocity)
}

// level is the scratch memory of one depth of the recursion.
type level struct {
	proposal   point
	first, end edge // inner edges of the two halves
	sums       [2][]float64
	extended   []float64
}

// transition describes how a point of the chain was drawn.
type transition struct {
	acceptance float64 // mean acceptance probability over the trajectory
	leapfrogs  int
	depth      int
	divergent  bool
	energy     float64 // H at the start of the trajectory
}

func newTree(h *hamiltonian, size, maxDepth int, rng Rand) *tree {
	t := &tree{h: h, rng: rng, maxDepth: maxDepth}
	for _, p := range []*point{&t.start, &t.current, &t.sample, &t.proposal, &t.ends[0], &t.ends[1]} {
		*p = newPoint(size)
	}
	for i := range 2 {
		t.outer[i], t.inner[i], t.halves[i] = newEdge(size), newEdge(size), make([]float64, size)
	}
	t.total, t.extended = make([]float64, size), make([]float64, size)
	t.levels = make([]level, maxDepth+1)
	for i := range t.levels {
		l := &t.levels[i]
		l.proposal, l.first, l.end = newPoint(size), newEdge(size), newEdge(size)
		l.sums, l.extended = [2][]float64{make([]float64, size), make([]float64, size)}, make([]float64, size)
	}
	return t
}

// next replaces p, with its gradient and log density, by the next point of the chain.
func (t *tree) next(p *point) transition {
	t.h.push(p, t.rng)
	t.initial = t.h.energy(p)
	t.result = transition{energy: t.initial}
	t.sample.set(p)
	for side := range 2 {
		t.ends[side].set(p)
		t.outer[side].at(p)
	}
	copy(t.total, p.momentum)
	weight := 0.0 // log Σ exp(H(start) - H) over the trajectory
	accepted := 0.0
	for t.result.depth < t.maxDepth && t.h.err == nil {
		side := 0
		if t.rng.Uniform() > 0.5 {
			side = 1
		}
		other := 1 - side
		// The trajectory so far becomes one half, the new subtree the other.
		copy(t.halves[other], t.total)
		t.inner[other].set(&t.outer[side])
		clear(t.halves[side])
		t.current.set(&t.ends[side])
		subtree := math.Inf(-1)
		ok := t.grow(t.result.depth, side, &t.proposal, &t.inner[side], &t.outer[side], t.halves[side], &subtree, &accepted)
		t.ends[side].set(&t.current)
		if !ok {
			break
		}
		t.result.depth++
		if subtree > weight || t.rng.Uniform() < math.Exp(subtree-weight) {
			t.sample.set(&t.proposal)
		}
		weight = logAddExp(weight, subtree)
		for i := range t.total {
			t.total[i] = t.halves[0][i] + t.halves[1][i]
		}
		if t.turns(t.outer[0].velocity, t.outer[1].velocity, t.total) ||
			t.turnsAcross(t.extended, t.outer[0].velocity, t.inner[1].velocity, t.halves[0], t.inner[1].momentum) ||
			t.turnsAcross(t.extended, t.inner[0].velocity, t.outer[1].velocity, t.halves[1], t.inner[0].momentum) {
			break
		}
	}
	t.result.acceptance = accepted / float64(max(1, t.result.leapfrogs))
	p.set(&t.sample)
	return t.result
}

// grow adds 2^depth points to the trajectory, on the given side of t.current, and
// reports whether the new subtree neither diverged nor turned. It draws proposal
// from the subtree, sets its first and last edge, and adds its momenta to sum, its
// weights to weight and its acceptance probabilities to accepted.
func (t *tree) grow(depth, side int, proposal *point, first, last *edge, sum []float64, weight, accepted *float64) bool {
	if depth == 0 {
		return t.leaf(side, proposal, first, last, sum, weight, accepted)
	}
	l := &t.levels[depth]
	clear(l.sums[0])
	clear(l.sums[1])
	left, right := math.Inf(-1), math.Inf(-1)
	if !t.grow(depth-1, side, proposal, first, &l.first, l.sums[0], &left, accepted) {
		return false
	}
	if !t.grow(depth-1, side, &l.proposal, &l.end, last, l.sums[1], &right, accepted) {
		return false
	}
	both := logAddExp(left, right)
	*weight = logAddExp(*weight, both)
	if right > both || t.rng.Uniform() < math.Exp(right-both) {
		proposal.set(&l.proposal)
	}
	for i := range sum {
		l.extended[i] = l.sums[0][i] + l.sums[1][i]
		sum[i] += l.extended[i]
	}
	return !t.turns(first.velocity, last.velocity, l.extended) &&
		!t.turnsAcross(l.extended, first.velocity, l.end.velocity, l.sums[0], l.end.momentum) &&
		!t.turnsAcross(l.extended, l.first.velocity, last.velocity, l.sums[1], l.first.momentum)
}

// leaf adds one point.
func (t *tree) leaf(side int, proposal *point, first, last *edge, sum []float64, weight, accepted *float64) bool {
	t.h.leapfrog(&t.current, [2]float64{-t.step, t.step}[side])
	t.result.leapfrogs++
	change := t.initial - t.h.energy(&t.current)
	if !(change > -maxEnergyError) {
		t.result.divergent = true
	}
	*weight = logAddExp(*weight, change)
	*accepted += math.Min(1, math.Exp(change))
	proposal.set(&t.current)
	first.at(&t.current)
	last.at(&t.current)
	simd.Axpy(sum, 1, t.current.momentum)
	return !t.result.divergent && t.h.err == nil
}

// turns reports whether a trajectory with the given velocities at its ends and
// sum of momenta turns back.
func (t *tree) turns(start, end, sum []float64) bool {
	return !(simd.Dot(start, sum) > 0 && simd.Dot(end, sum) > 0)
}

// turnsAcross is turns for one half and the nearest point of the other.
func (t *tree) turnsAcross(scratch, start, end, sum, momentum []float64) bool {
	for i := range scratch {
		scratch[i] = sum[i] + momentum[i]
	}
	return t.turns(start, end, scratch)
}
