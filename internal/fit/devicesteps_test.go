package fit

import (
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/fit/stepspercall"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
)

// calls is an oracle that keeps the numbers of steps that it was asked for, and leaves the
// state as it is.
type calls struct {
	recorder
	steps []int
}

func (c *calls) Prepare(privacy.Postprocessing) error { return nil }

func (c *calls) Steps(_, _, _ []float64, n int) (int, error) {
	c.steps = append(c.steps, n)
	return n, nil
}

// A device makes the noise of single records, so however much there is the first call has
// its usual number of steps.
func TestRecordNoiseDoesNotShortenCalls(t *testing.T) {
	m, last := modelstest.Read(t, "../../configs/vae-mnist.yaml"), 0.0
	p, err := plan.New(m, plan.Config{
		Records: 60_000, Sampling: "fixed_size", BatchSize: 8192, Steps: 40, Optimizer: "adam", LearningRate: 1e-3, Averaging: &last,
		NoiseMultiplier: 1.5, Delta: 1e-5, Neighbours: "substitute", Clipping: settings.ClippingFlat, ClipNorm: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLoop(p, make([]float64, m.P))
	if err != nil {
		t.Fatal(err)
	}
	var c calls
	a := newDeviceSteps(l, &c, m.NewPriorDensity())
	if done, err := a.take(l, noise.Public(1).Stream(noise.Reparameterisation)); err != nil || done != stepspercall.First || c.steps[0] != stepspercall.First {
		t.Errorf("a call of %v steps, %d taken: %v; want %d", c.steps, done, err, stepspercall.First)
	}
	if m.Likelihood.AuxRecord*8192*stepspercall.First < callNumbers {
		t.Error("there is too little noise to tell")
	}
}
