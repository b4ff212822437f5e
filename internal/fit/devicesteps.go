package fit

import (
	"d3p/internal/fit/optimizer"
	"d3p/internal/fit/plan"
	"d3p/internal/fit/stepspercall"
	"d3p/internal/models"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
)

// deviceSteps takes many steps in one call of an engine that can do all work of a step. The
// engine gets the loop's arithmetic as tapes (steptape.go) and the public inputs of each
// step, and returns the state after each. The states equal those of Propose, Absorb and
// Advance up to the rounding of elementary functions.
type deviceSteps struct {
	oracle       deviceOracle
	inputs, kept []float64
	state, last  []float64 // the last state, in the memory of l's arrays from the second call on
	eta          []float64 // of one step
	perStep      int       // approximate number of inputs that the host makes for a step
	controller   *stepspercall.Controller
}

// callNumbers bounds the inputs and states of the steps of one call. While an engine takes
// the steps of a call it prepares later ones, so long calls are faster.
const callNumbers = 1 << 22

// newDeviceSteps returns nil if the host must take the steps one by one: the plan has no
// tape, or the engine takes one step at a time.
func newDeviceSteps(l *Loop, oracle Oracle, prior Prior) *deviceSteps {
	o, ok := oracle.(deviceOracle)
	_, ofModel := prior.(*models.PriorDensity)
	form, hasTape := newStepTape(l)
	if !ok || !ofModel || !hasTape {
		return nil
	}
	post, err := form.compile(l.plan.Model().Prior)
	if err != nil || o.Prepare(post) != nil {
		return nil
	}
	batch, place := l.plan.SamplingRate*float64(l.plan.Records), 0.5
	if l.plan.SamplingRate == 1 || l.plan.Batches == sampler.Feistel {
		place = 0.01 // they need no memory, but time
	}
	return &deviceSteps{
		oracle: o, controller: stepspercall.New(nil), state: make([]float64, post.Absorb.P), last: make([]float64, post.Absorb.P), eta: make([]float64, l.guide.Noise()),
		perStep: l.guide.Noise() + 1 + int(batch*place),
	}
}

// take takes the steps of one call and returns their number; 0 if the host must take the
// next step.
func (a *deviceSteps) take(l *Loop, eta *noise.Stream) (int, error) {
	s, latent := &l.state, l.plan.Latent
	n := min(l.plan.Steps-s.Step, a.controller.Steps(), max(1, callNumbers/a.perStep), max(stepspercall.Most/8, callNumbers/latent))
	keep := latent // locations for the trace
	if n*latent > callNumbers {
		keep = 0
		for k := range n {
			if s.Trace.wants(s.Step + k + 1) {
				n = k + 1
				break
			}
		}
	}
	a.inputs = a.inputs[:0]
	for k := range n {
		a.inputs = l.appendInputs(a.inputs, l.state.Step+k, a.eta, eta)
	}
	a.kept = append(a.kept[:0], make([]float64, n*keep)...)
	l.pack(a.state)
	a.controller.Begin()
	done, err := a.oracle.Steps(a.state, a.kept, a.inputs, n)
	if err != nil || done == 0 {
		return 0, err
	}
	a.controller.End(done)
	l.adopt(a.state)
	a.state, a.last = a.last, a.state
	for k := range done {
		if s.Step >= s.Average.start {
			s.Average.Count++
			if l.plan.FollowsNoise() {
				s.Noise.Count++
			}
		}
		s.Step++
		if !s.Trace.wants(s.Step) {
			continue
		}
		if keep == 0 { // the last step of the call
			s.Trace.add(s.Step, s.Lambda[:latent])
		} else {
			s.Trace.add(s.Step, a.kept[k*keep:][:keep])
		}
	}
	return done, nil
}

// appendInputs appends the public inputs of step t: η, the learning rate, Adam's
// corrections, the weight of the new iterate in the mean (0: no mean yet), 1 if there is a
// mean, and the step's weight in the gradient sums.
func (l *Loop) appendInputs(x []float64, t int, draw []float64, eta *noise.Stream) []float64 {
	eta.Seek(uint64(t))
	eta.Normals(draw)
	x = append(x, draw...)
	weight, averaging := 0.0, 0.0
	if start := l.state.Average.start; t >= start {
		weight, averaging = 1/float64(l.state.Average.Count+t-max(start, l.state.Step)+1), 1
	}
	first, second := optimizer.AdamCorrections(t + 1)
	x = append(x, l.plan.LearningRate*l.schedule.Factor(t, l.plan.Steps), first, second, weight, averaging)
	if !l.plan.SumsGradients() {
		return x
	}
	return append(x, plan.StepWeight(t), plan.SettledWeight(t, l.plan.Steps))
}

// arrays are the arrays of the state in the order of the tape's parameters.
func (l *Loop) arrays() []*[]float64 {
	s := &l.state
	list := []*[]float64{&s.Lambda, &s.Moments[0], &s.Moments[1]}
	if l.averages() {
		list = append(list, &s.Average.Mean)
	}
	if l.plan.FollowsNoise() {
		list = append(list, &s.Noise.Variance, &s.Noise.Cross, &s.Noise.SumSquare)
	}
	if l.plan.SumsGradients() {
		list = append(list, s.Gradients.Arrays()...)
	}
	return list
}

// averages reports whether any iterate is averaged.
func (l *Loop) averages() bool { return l.state.Average.start < l.plan.Steps }

// pack copies the state into x, the tape's parameters.
func (l *Loop) pack(x []float64) {
	at := 0
	for _, p := range l.arrays() {
		at += copy(x[at:], *p)
	}
	x[at] = l.state.ClipNorm
}

// adopt makes x the memory of the loop's arrays, which are long for a network.
func (l *Loop) adopt(x []float64) {
	at := 0
	for _, p := range l.arrays() {
		end := at + len(*p)
		*p = x[at:end:end]
		at = end
	}
	l.optimizer.(*optimizer.Adam).Adopt(l.state.Moments[0], l.state.Moments[1])
	l.state.ClipNorm = x[at]
}
