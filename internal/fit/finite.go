package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"d3p/internal/fit/plan"
	"d3p/internal/fit/start"
	"d3p/internal/jsonfile"
	"d3p/internal/models"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
)

// triedSteps is the number of steps that CheckFinite takes.
const triedSteps = 3

// CheckFinite checks that a fit of p has only numbers that its checkpoints can hold, and takes
// the first steps of a variational fit as if no record had a gradient. It reads no record.
// Its error names what is not finite: the fit would spend its budget and have no result.
func CheckFinite(p *plan.Plan) error {
	if p.ByMarginals() || settings.OneRelease(p.Method) || p.Method == settings.MethodNUTS || p.Model() == nil || p.Latent == 0 {
		return encodes(p, State{})
	}
	m0, err := start.Point(p.Init, p.Model(), noise.Public(p.InitSeed).Stream(noise.Initialisation))
	if err != nil {
		return err
	}
	loop, err := NewLoop(p, m0)
	if err != nil {
		return err
	}
	if err := encodes(p, loop.state); err != nil || p.ByMoments() {
		return err
	}
	eta, prior := noise.Public(p.InitSeed).Stream(noise.Reparameterisation), &watchedPrior{Prior: p.Model().NewPriorDensity()}
	step := newSingleStep(loop, silent{}, prior)
	for range min(triedSteps, p.Steps) {
		if err := step.take(loop, eta); err != nil {
			if loop.state.Step > 0 { // the prior was fine where the fit starts
				return err
			}
			return prior.explain(err, p.Model())
		}
	}
	return encodes(p, loop.state)
}

// silent answers as if no record had a gradient.
type silent struct{}

// Step implements Oracle.
func (silent) Step(dst, params []float64, clipNorm float64) (float64, error) {
	clear(dst)
	return 0, nil
}

// watchedPrior keeps the last gradient.
type watchedPrior struct {
	Prior
	last []float64 // P
}

// Gradient implements Prior.
func (w *watchedPrior) Gradient(dst, theta []float64) {
	w.Prior.Gradient(dst, theta)
	w.last = append(w.last[:0], dst...)
}

// mostSlope bounds gradients whose squares are numbers.
const mostSlope = 1e150

// explain names the parameters whose gradients, or their squares, are not finite.
func (w *watchedPrior) explain(err error, m *models.Model) error {
	var names []string
	for i := range m.Params {
		x := &m.Params[i]
		if x.Offset+x.Size <= len(w.last) && slices.ContainsFunc(w.last[x.Offset:x.Offset+x.Size], func(g float64) bool { return !(math.Abs(g) < mostSlope) }) {
			names = append(names, x.Name)
		}
	}
	if len(names) == 0 {
		return err
	}
	return fmt.Errorf("the prior of %s has no finite gradient where the fit starts (numbers of ordinary size would help, such as normal(0, 1); d3p render prints the priors)", strings.Join(names, ", "))
}

// encodes reports a number of a plan or state that JSON lacks.
func encodes(p *plan.Plan, state State) error {
	places := append(jsonfile.NonFinite(p), jsonfile.NonFinite(state)...)
	if len(places) == 0 {
		return nil
	}
	return fmt.Errorf("%s of the plan is no finite number, and no checkpoint or report could be written (bounds, scales and priors of ordinary size would help; d3p render prints those that the file leaves out)", places[0])
}
