package fit

import (
	"d3p/internal/fit/optimizer"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// ahead drives many steps at once, on an engine that can do what is between two
// of them: the loop's arithmetic is written as tapes (script.go), and the
// engine gets the public numbers of each step and returns the states after it.
// What it computes is what Propose, Absorb and Advance compute, but for the
// rounding of elementary functions.
type ahead struct {
	oracle       aheadOracle
	inputs, kept []float64
	state, last  []float64 // last: the memory of l's arrays, once they have left their own
	eta          []float64 // of one step
	perStep      int       // numbers that are made on the host for a step, about
}

// aheadOracle is an Oracle that may be able to take many steps at once.
type aheadOracle interface {
	Prepare(privacy.Postprocessing) error
	Steps(state, kept, inputs []float64, n int) (done int, err error)
}

// Bounds of one call: its steps, and the numbers that they need or leave. An engine
// makes what the next steps need while it takes others, but for the first ones of a
// call.
const aheadSteps, aheadNumbers = 4096, 1 << 22

// newAhead returns nil where steps have to be taken one by one: the plan has
// something that no tape is written for, or the engine has to be asked each time.
func newAhead(l *Loop, oracle Oracle, prior Prior) *ahead {
	o, ok := oracle.(aheadOracle)
	_, ofModel := prior.(*models.PriorDensity)
	if !ok || !ofModel || !l.scriptable() {
		return nil
	}
	post, err := l.script(l.plan.Model().Prior)
	if err != nil || o.Prepare(post) != nil {
		return nil
	}
	batch, place := l.plan.SamplingRate*float64(l.plan.Records), 0.5
	if l.plan.SamplingRate == 1 {
		place = 0.01 // no numbers, but time
	}
	return &ahead{
		oracle: o, state: make([]float64, post.Absorb.P), last: make([]float64, post.Absorb.P), eta: make([]float64, l.guide.Noise()),
		perStep: l.guide.Noise() + 1 + int(batch*(place+float64(l.plan.Model().Likelihood.AuxRecord))),
	}
}

// take takes as many steps as one call does and returns how many: none when the
// next one has to be taken by itself.
func (a *ahead) take(l *Loop, eta *noise.Stream) (int, error) {
	s, latent := &l.state, l.plan.Latent
	n := min(l.plan.Steps-s.Step, aheadSteps, max(1, aheadNumbers/a.perStep), max(aheadSteps/8, aheadNumbers/latent))
	keep := latent // the locations of the trace
	if n*latent > aheadNumbers {
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
	done, err := a.oracle.Steps(a.state, a.kept, a.inputs, n)
	if err != nil || done == 0 {
		return 0, err
	}
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

// appendInputs appends the public numbers of step t: η, the learning rate, the
// corrections of Adam, the weight of the new iterate in the mean (0: not yet),
// 1 if there is a mean yet, and for the curvature the weight of the step.
func (l *Loop) appendInputs(x []float64, t int, draw []float64, eta *noise.Stream) []float64 {
	eta.Seek(uint64(t))
	eta.Normals(draw)
	x = append(x, draw...)
	weight, averaging := 0.0, 0.0
	if start := l.state.Average.start; t >= start {
		weight, averaging = 1/float64(l.state.Average.Count+t-max(start, l.state.Step)+1), 1
	}
	first, second := optimizer.AdamCorrections(t + 1)
	x = append(x, l.plan.LearningRate*l.schedule.Factor(t, l.plan.Steps),
		first, second, weight, averaging)
	if l.plan.NoiseAware != plan.NoiseAwareCurvature {
		return x
	}
	return append(x, curvatureWeight(t))
}

// parts are the arrays of the state in the order of script's parameters.
func (l *Loop) parts() []*[]float64 {
	s := &l.state
	parts := []*[]float64{&s.Lambda, &s.Moments[0], &s.Moments[1]}
	if l.averages() {
		parts = append(parts, &s.Average.Mean)
	}
	if l.plan.FollowsNoise() {
		parts = append(parts, &s.Noise.Variance, &s.Noise.Cross, &s.Noise.SumSquare)
	}
	if l.plan.NoiseAware == plan.NoiseAwareCurvature {
		parts = append(parts, s.Curvature.arrays()...)
	}
	return parts
}

func (l *Loop) pack(x []float64) {
	at := 0
	for _, p := range l.parts() {
		at += copy(x[at:], *p)
	}
	x[at] = l.state.ClipNorm
}

// adopt makes x the memory of the loop's arrays: of a network they are long.
func (l *Loop) adopt(x []float64) {
	at := 0
	for _, p := range l.parts() {
		end := at + len(*p)
		*p = x[at:end:end]
		at = end
	}
	o := l.optimizer.(*optimizer.Adam) // scriptable
	o.Adopt(l.state.Moments[0], l.state.Moments[1])
	l.state.ClipNorm = x[at]
}
