package fit

import (
	"slices"

	"d3p/internal/fit/optimizer"
	"d3p/internal/fit/plan"
	"d3p/internal/models/guide"
	"d3p/internal/privacy"
	"d3p/internal/simd"
)

// chunk is the number of coordinates that several loops process in turn, so that
// intermediate results stay in the first-level cache.
const chunk = 512

// scratch is one thread's memory for intermediate results of a chunk.
type scratch [2][chunk]float64

// ranges is a step's work on all parameters, in ranges that threads share. Its coordinates
// are independent, so the number of threads changes no bit.
type ranges struct {
	loops     *privacy.Loops
	scratch   []scratch // by thread
	nonFinite []bool    // by thread: it met an iterate that is not finite

	// Methods of Loop for coordinates low <= j < high, bound once: a method value
	// allocates.
	propose, absorb, update, noise, average func(thread, low, high int)

	// Their arguments.
	release, prior []float64       // P
	scale          float64         // of the release
	separable      guide.Separable // of the present draw; nil: the guide works on all coordinates at once
	seen           observation
	step           optimizer.Update
	weight         float64 // of the sum of gradients
}

// shareThreads runs the loop's ranges on the threads of loops; nil means one thread.
func (l *Loop) shareThreads(loops *privacy.Loops) {
	l.ranges = ranges{
		loops: loops, scratch: make([]scratch, loops.Threads()), nonFinite: make([]bool, loops.Threads()),
		propose: l.proposeRange, absorb: l.absorbRange, update: l.updateRange, noise: l.noiseRange, average: l.averageRange,
	}
}

// draw sets theta to f(λ, η), or to the location for a guide without noise.
func (l *Loop) draw() {
	r := &l.ranges
	if l.guide.Noise() == 0 {
		l.theta = guide.Location(l.guide, l.state.Lambda)
		return
	}
	if r.separable, _ = l.guide.(guide.Separable); r.separable == nil {
		l.guide.Draw(l.theta, l.state.Lambda, l.eta)
		return
	}
	r.loops.Run(len(l.theta), r.propose)
}

func (l *Loop) proposeRange(_, low, high int) {
	l.ranges.separable.DrawRange(l.theta, l.state.Lambda, l.eta, low, high)
}

// pullBack sets pull (V) to the gradient with respect to λ of a draw whose gradient with
// respect to θ is scale·release + prior.
func (l *Loop) pullBack(release []float64, scale float64, prior []float64) {
	r, estimator := &l.ranges, l.estimator()
	r.separable, _ = estimator.(guide.Separable)
	for _, j := range l.untouched {
		release[j] = 0
	}
	r.release, r.scale, r.prior = release, scale, prior
	if l.plan.SumsGradients() {
		r.seen = observation{
			Theta: l.theta, D: l.shift, Likelihood: l.likelihood, Prior: prior, T: l.state.Step,
			Settled: plan.SettledWeight(l.state.Step, l.plan.Steps), NoiseSD: l.noiseSD(), ClipNorm: l.state.ClipNorm,
		}
		l.state.Gradients.begin(r.seen)
	}
	r.loops.Run(len(l.likelihood), r.absorb)
	if r.separable == nil {
		estimator.Pullback(l.pull, l.likelihood, l.state.Lambda, l.eta)
	}
}

func (l *Loop) absorbRange(thread, low, high int) {
	r := &l.ranges
	for lo := low; lo < high; lo += chunk {
		hi := min(lo+chunk, high)
		g := l.likelihood[lo:hi]
		simd.MulScalar(g, r.release[lo:hi], r.scale)
		if l.plan.SumsGradients() {
			l.setShift(lo, hi)
			l.state.Gradients.observe(r.seen, lo, hi, &r.scratch[thread])
		}
		simd.Add(g, g, r.prior[lo:hi])
		if r.separable != nil {
			r.separable.PullbackRange(l.pull, l.likelihood, l.state.Lambda, l.eta, lo, hi)
		}
	}
}

// optimize takes the optimizer's step along the mean of the draws' gradients, and
// reports whether the iterate is finite.
func (l *Loop) optimize() bool {
	r, state := &l.ranges, &l.state
	r.weight = 1 / float64(l.draws)
	r.step = optimizer.Update{
		X: state.Lambda, G: l.grad, T: state.Step + 1, NoiseSD: l.noiseSD(),
		Rate: l.plan.LearningRate * l.schedule.Factor(state.Step, l.plan.Steps),
	}
	if l.plan.ModelsNoise() {
		r.step.Gain = l.gain
	}
	r.loops.Run(len(state.Lambda), r.update)
	return !slices.Contains(r.nonFinite, true)
}

func (l *Loop) updateRange(thread, low, high int) {
	r := &l.ranges
	if g := r.step.G[low:high]; l.draws > 1 {
		simd.MulScalar(g, g, r.weight)
	}
	l.optimizer.Update(r.step, low, high)
	if !simd.Finite(r.step.X[low:high]) {
		r.nonFinite[thread] = true
	}
}

// followNoise advances the recursion of the privacy noise by a step. If the curvature gives
// the noise's variance, it adds up the gain instead, which measures how far the mean has
// settled.
func (l *Loop) followNoise() {
	r, state := &l.ranges, &l.state
	if l.plan.FollowsNoise() {
		if r.separable, _ = l.guide.(guide.Separable); r.separable == nil {
			l.guide.Precision(l.precision, state.Lambda)
		}
		state.Noise.begin(state.Step)
	} else if !state.Average.averages(state.Step) {
		return
	}
	r.loops.Run(len(l.gain), r.noise)
}

func (l *Loop) noiseRange(thread, low, high int) {
	r, state := &l.ranges, &l.state
	if !l.plan.FollowsNoise() {
		state.Gradients.addGain(l.gain, low, high)
		return
	}
	if r.separable != nil {
		r.separable.PrecisionRange(l.precision, state.Lambda, low, high)
	}
	state.Noise.add(state.Step, l.gain, l.precision, l.noiseSD(), low, high, &r.scratch[thread])
}

func (l *Loop) averageRange(thread, low, high int) {
	l.state.Average.add(l.state.Lambda, low, high, &l.ranges.scratch[thread])
}
