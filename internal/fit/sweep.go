package fit

import (
	"d3p/internal/fit/optimizer"
	"d3p/internal/fit/plan"
	"d3p/internal/models/guide"
	"d3p/internal/privacy"
	"d3p/internal/simd"
)

// block is how many coordinates are worked on at a time where there are several
// loops, so that what is computed on the way stays in the first-level cache.
const block = 512

// scratch is the memory of one thread for what is computed of a block on the way.
type scratch [2][block]float64

// A sweep goes over all parameters, in ranges that threads share. Coordinates have
// nothing to do with each other there, so the number of threads changes no bit.
type sweep struct {
	loops   *privacy.Loops
	scratch []scratch // of the threads
	spoiled []bool    // by thread: it has seen an iterate that is no finite number

	// Methods of Loop for coordinates low <= j < high, made once.
	propose, absorb, update, noise, average func(thread, low, high int)

	// What they are called with.
	release, prior []float64       // P
	scale          float64         // of the release
	separable      guide.Separable // of the draw in progress; nil: its guide is asked as a whole
	seen           observation
	step           optimizer.Update
	weight         float64 // of the sum of gradients
}

// sweepOn shares the loop's work on the threads that loops has; nil is one.
func (l *Loop) sweepOn(loops *privacy.Loops) {
	l.sweep = sweep{
		loops: loops, scratch: make([]scratch, loops.Threads()), spoiled: make([]bool, loops.Threads()),
		propose: l.proposeRange, absorb: l.absorbRange, update: l.updateRange, noise: l.noiseRange, average: l.averageRange,
	}
}

// draw sets theta to f(λ, η), which of a guide without noise is its location.
func (l *Loop) draw() {
	s := &l.sweep
	if l.guide.Noise() == 0 {
		l.theta = guide.Location(l.guide, l.state.Lambda)
		return
	}
	if s.separable, _ = l.guide.(guide.Separable); s.separable == nil {
		l.guide.Draw(l.theta, l.state.Lambda, l.eta)
		return
	}
	s.loops.Run(len(l.theta), s.propose)
}

func (l *Loop) proposeRange(_, low, high int) {
	l.sweep.separable.DrawRange(l.theta, l.state.Lambda, l.eta, low, high)
}

// pullBack sets pull (V) to the gradient with respect to λ of a draw whose gradient
// with respect to θ is scale·release + prior.
func (l *Loop) pullBack(release []float64, scale float64, prior []float64) {
	s, estimator := &l.sweep, l.estimator()
	s.separable, _ = estimator.(guide.Separable)
	s.release, s.scale, s.prior = release, scale, prior
	if l.plan.NoiseAware == plan.NoiseAwareCurvature {
		s.seen = observation{
			Theta: l.theta, D: l.shift, Likelihood: l.likelihood, Prior: prior, T: l.state.Step, NoiseSD: l.noiseSD(),
		}
		l.state.Curvature.begin(s.seen)
	}
	s.loops.Run(len(l.likelihood), s.absorb)
	if s.separable == nil {
		estimator.Pullback(l.pull, l.likelihood, l.state.Lambda, l.eta)
	}
}

func (l *Loop) absorbRange(thread, low, high int) {
	s := &l.sweep
	for lo := low; lo < high; lo += block {
		hi := min(lo+block, high)
		g := l.likelihood[lo:hi]
		simd.MulScalar(g, s.release[lo:hi], s.scale)
		if l.plan.NoiseAware == plan.NoiseAwareCurvature {
			l.setShift(lo, hi)
			l.state.Curvature.observe(s.seen, lo, hi, &s.scratch[thread])
		}
		simd.Add(g, g, s.prior[lo:hi])
		if s.separable != nil {
			s.separable.PullbackRange(l.pull, l.likelihood, l.state.Lambda, l.eta, lo, hi)
		}
	}
}

// optimize takes the optimizer's step along the mean of the draws' gradients, and
// reports whether the iterate is finite.
func (l *Loop) optimize() bool {
	s, state := &l.sweep, &l.state
	s.weight = 1 / float64(l.draws)
	s.step = optimizer.Update{
		X: state.Lambda, G: l.grad, T: state.Step + 1,
		Rate: l.plan.LearningRate * l.schedule.Factor(state.Step, l.plan.Steps),
	}
	if l.plan.ModelsNoise() {
		s.step.Gain = l.gain
	}
	s.loops.Run(len(state.Lambda), s.update)
	for _, spoiled := range s.spoiled {
		if spoiled {
			return false
		}
	}
	return true
}

func (l *Loop) updateRange(thread, low, high int) {
	s := &l.sweep
	if g := s.step.G[low:high]; l.draws > 1 {
		simd.MulScalar(g, g, s.weight)
	}
	l.optimizer.Update(s.step, low, high)
	if !finite(s.step.X[low:high]) {
		s.spoiled[thread] = true
	}
}

// followNoise advances the recursion of the noise that a step has left, or, where
// the curvature gives the variance of the noise, what tells how far the mean has
// settled.
func (l *Loop) followNoise() {
	s, state := &l.sweep, &l.state
	if l.plan.FollowsNoise() {
		if s.separable, _ = l.guide.(guide.Separable); s.separable == nil {
			l.guide.Precision(l.precision, state.Lambda)
		}
		state.Noise.begin(state.Step)
	} else if !state.Average.averages(state.Step) {
		return
	}
	s.loops.Run(len(l.gain), s.noise)
}

func (l *Loop) noiseRange(thread, low, high int) {
	s, state := &l.sweep, &l.state
	if !l.plan.FollowsNoise() {
		state.Curvature.relax(l.gain, low, high)
		return
	}
	if s.separable != nil {
		s.separable.PrecisionRange(l.precision, state.Lambda, low, high)
	}
	state.Noise.add(state.Step, l.gain, l.precision, l.noiseSD(), low, high, &s.scratch[thread])
}

func (l *Loop) averageRange(thread, low, high int) {
	l.state.Average.add(l.state.Lambda, low, high, &l.sweep.scratch[thread])
}
