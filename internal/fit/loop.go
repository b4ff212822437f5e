package fit

import (
	"encoding/json"
	"errors"
	"fmt"

	"d3p/internal/fit/optimizer"
	"d3p/internal/fit/plan"
	"d3p/internal/models/guide"
	"d3p/internal/settings"
	"d3p/internal/simd"
)

// ErrNonFinite means that an iterate is no longer finite. It depends on released quantities
// only, so reporting it reveals nothing more.
var ErrNonFinite = errors.New("the iterates left the range of numbers (try a smaller --learning-rate)")

// Loop is DP-VI in init/step form: given the noise η of each draw, the released
// gradient sums and the prior's gradients, every iterate is a pure function of
// the plan. One step is
//
//	θ := Propose(η)         for each draw of the step (one in a private fit)
//	Absorb(release, prior)  right after it
//	Advance(count)          once
//
// Loops over all parameters run in ranges that threads share (threads.go). No
// method allocates. Jälkö et al. 2017, arXiv:1610.08749; aligned gradients:
// Jälkö et al. 2022, arXiv:2209.06539.
type Loop struct {
	plan      *plan.Plan
	guide     guide.Guide
	landing   guide.Guide // the guide, or the guide with less noisy gradients near the optimum
	optimizer optimizer.Optimizer
	schedule  optimizer.Schedule
	adapt     adaptiveClip
	vanilla   bool
	restored  bool // restored from a checkpoint

	state State

	theta, shift    []float64 // P
	eta             []float64 // E, noise of the present draw
	likelihood      []float64 // P, scaled
	untouched       []int     // coordinates in which no record can have a gradient: what is released of them is noise
	grad, pull      []float64 // V
	gain, precision []float64 // P
	draws           int       // draws absorbed in the present step
	ranges          ranges
}

// State is everything that changes from step to step. It depends on the records
// only through released quantities.
type State struct {
	Step     int           `json:"step"`   // completed steps
	Lambda   []float64     `json:"lambda"` // variational parameters λ, shape (V)
	ClipNorm float64       `json:"clip_norm"`
	Moments  [][]float64   `json:"moments"` // of the optimizer
	Average  average       `json:"average"`
	Noise    noiseVariance `json:"noise"`
	Trace    trace         `json:"trace"`
	// Temper is a field of old checkpoints. Nothing reads it.
	Temper json.RawMessage `json:"temper,omitempty"`
	// Gradients is empty unless the plan's NoiseAware is curvature.
	Gradients gradientSums `json:"curvature"`
	// Regression has the steps of a fit by second moments.
	Regression []regressionStep `json:"regression,omitempty"`
}

// NewLoop returns the loop before step 1, with the guide at location m0 (P).
func NewLoop(p *plan.Plan, m0 []float64) (*Loop, error) {
	g, err := p.NewGuide()
	if err != nil {
		return nil, err
	}
	family, err := optimizer.Lookup(p.Optimizer)
	if err != nil {
		return nil, err
	}
	sched, err := optimizer.LookupSchedule(p.Schedule)
	if err != nil {
		return nil, err
	}
	if len(m0) != p.Latent {
		panic(fmt.Sprintf("fit: len(m0) = %d, want %d", len(m0), p.Latent))
	}
	size, latent := g.Size(), p.Latent
	l := &Loop{
		plan: p, guide: g, landing: g, schedule: sched, vanilla: p.Gradient == settings.GradientVanilla,
		optimizer: family.New(size, optimizer.Options{Momentum: p.Momentum, WeightDecay: p.WeightDecay}),
		adapt:     adaptiveClip{rate: p.ClipRate, expected: p.SamplingRate * float64(p.Records), most: p.MostClipNorm()},
		theta:     make([]float64, latent), shift: make([]float64, latent),
		eta: make([]float64, g.Noise()), likelihood: make([]float64, latent),
		grad: make([]float64, size), pull: make([]float64, size),
		gain: make([]float64, latent), precision: make([]float64, latent),
	}
	if m := p.Model(); m != nil && !l.vanilla {
		l.untouched = m.Likelihood.Untouched()
	}
	start := averageStart(p.Averaging, p.Steps)
	l.state = State{
		Lambda: make([]float64, size), ClipNorm: p.StepClipNorm(0), Moments: l.optimizer.Moments(),
		Average: newAverage(start, size), Noise: newNoiseVariance(start, latent),
		Trace: newTrace(p.Steps, latent, p.SideQueries.Iterates()),
	}
	if !p.Private {
		l.landing = guide.NewLanding(g)
	}
	if p.SumsGradients() {
		l.state.Gradients = newGradientSums(latent)
	}
	g.Init(l.state.Lambda, m0, p.InitScale)
	l.shareThreads(nil)
	return l, nil
}

// Done reports whether all planned steps are completed.
func (l *Loop) Done() bool { return l.state.Step >= l.plan.Steps }

// Propose starts a draw of the current step with noise eta (E) and returns
// θ (P), valid until the next call.
func (l *Loop) Propose(eta []float64) []float64 {
	copy(l.eta, eta)
	l.draw()
	return l.theta
}

// Query returns the tape's parameters at the proposed draw for the curator: θ for aligned
// gradients, λ for vanilla gradients, which draw η for each record.
func (l *Loop) Query() []float64 {
	if l.vanilla {
		return l.state.Lambda
	}
	return l.theta
}

// Absorb adds the proposed draw's gradient to the step. release (D) is the noisy sum of
// clipped per-record gradients, prior (P) is ∂ log p(θ)/∂θ at the proposed θ. It depends on
// no record, so it is outside the mechanism:
//
//	∂m = release/q + prior,  the rest of λ by the guide's Pullback.
//
// In untouched coordinates release is noise alone: Absorb sets it to 0 there.
//
// For vanilla gradients release is with respect to λ and contains prior and entropy; prior
// is nil.
func (l *Loop) Absorb(release, prior []float64) {
	first := l.draws == 0
	l.draws++
	scale := 1 / l.plan.StepRate(l.state.Step)
	if l.vanilla {
		simd.MulScalar(l.pull, release, scale)
	} else {
		l.pullBack(release, scale, prior)
	}
	l.addGradient(first)
}

// addGradient adds pull to the step's gradient, which the first draw begins.
func (l *Loop) addGradient(first bool) {
	if first {
		l.grad, l.pull = l.pull, l.grad
		return
	}
	simd.Add(l.grad, l.grad, l.pull)
}

// estimator is the guide whose gradients the present step uses. Without privacy noise the
// noise of the draws keeps a fit from its optimum. The landing guide has no such noise at
// the optimum, but more than the plain guide far away.
func (l *Loop) estimator() guide.Guide {
	if 2*l.state.Step < l.plan.Steps {
		return l.guide
	}
	return l.landing
}

// setShift sets shift to θ − m at the proposed draw, for low <= j < high.
func (l *Loop) setShift(low, high int) {
	simd.Sub(l.shift[low:high], l.theta[low:high], l.state.Lambda[low:high])
}

// noiseSD is the standard deviation of the privacy noise in one coordinate of the
// likelihood gradient: z·C/q times the step's factor.
func (l *Loop) noiseSD() float64 {
	return l.plan.GradientNoise * l.plan.NoiseSchedule.Factor(l.state.Step) * l.state.ClipNorm / l.plan.StepRate(l.state.Step)
}

// Advance completes the step: optimizer, noise recursion, average, and the clip
// norm of the next step from the released count Σ (1[|g| ≤ C] − γ) + noise
// (ignored unless clipping is adaptive).
func (l *Loop) Advance(count float64) error {
	s := &l.state
	if !l.optimize() {
		return fmt.Errorf("step %d: %w", s.Step+1, ErrNonFinite)
	}
	l.draws = 0
	if l.plan.GradientNoise > 0 && l.plan.ModelsNoise() {
		l.followNoise()
	}
	if s.Average.averages(s.Step) {
		s.Average.Count++
		l.ranges.loops.Run(len(s.Lambda), l.ranges.average)
	}
	if l.plan.Clipping == settings.ClippingAdaptive {
		s.ClipNorm = l.adapt.next(s.ClipNorm, count)
	}
	s.Step++
	if l.plan.ClipNormSchedule != nil {
		s.ClipNorm = l.plan.StepClipNorm(s.Step)
	}
	if s.Trace.wants(s.Step) {
		s.Trace.add(s.Step, guide.Location(l.guide, s.Lambda))
	}
	return nil
}
