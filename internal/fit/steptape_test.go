package fit

import (
	"math"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models/graph"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
)

// The tapes of a step compute what Propose, Absorb and Advance compute, but for the
// rounding of elementary functions: for every array of the state, over 30 steps of
// random releases.
func TestStepTape(t *testing.T) {
	cohort := modelstest.Read(t, "../../datasets/cohort.yaml")
	correlated := modelstest.Compile(t, "correlated.yaml", correlatedEffects)
	for name, cfg := range map[string]plan.Config{
		"curvature, adaptive": {Epsilon: 1, Steps: 30},
		"variance, flat":      {Epsilon: 1, Steps: 30, NoiseAware: settings.NoiseAwareVariance, Clipping: settings.ClippingFlat, SamplingRate: 0.1},
		"last iterate":        {Epsilon: 1, Steps: 30, Averaging: new(float64)},
		"delta":               {Epsilon: 1, Steps: 30, Guide: "delta"},
		"correlated effects":  {Epsilon: 1, Steps: 30, NoiseAware: settings.NoiseAwareVariance},
	} {
		t.Run(name, func(t *testing.T) {
			m := cohort
			if name == "correlated effects" {
				m = correlated
			}
			p, err := plan.New(m, cfg)
			if err != nil {
				t.Fatal(err)
			}
			l, err := NewLoop(p, make([]float64, m.P))
			if err != nil {
				t.Fatal(err)
			}
			form, ok := newStepTape(l)
			if !ok {
				t.Fatal("the plan has no tape")
			}
			tapes, err := form.compile(m.Prior)
			if err != nil {
				t.Fatal(err)
			}
			propose, absorb := graph.NewMachine(tapes.Propose, 1), graph.NewMachine(tapes.Absorb, 1)
			prior := m.NewPriorDensity()
			eta, rng := noise.Public(1).Stream(noise.Reparameterisation), noise.Public(2).Stream(noise.Initialisation)
			state, draw := make([]float64, tapes.Absorb.P), make([]float64, l.guide.Noise())
			release, slope, count := make([]float64, m.P), make([]float64, m.P), make([]float64, 1)
			l.pack(state)
			for step := range p.Steps {
				inputs := l.appendInputs(nil, step, draw, eta)
				rng.Normals(release)
				rng.Normals(count)
				propose.Globals(state, inputs)
				theta := propose.Output(0)
				isNearAll(t, step, "theta", theta, l.Propose(draw))
				prior.Gradient(slope, theta)

				absorb.Globals(state, append(append(append(inputs, release...), count...), slope...))
				l.Absorb(release, slope)
				if err := l.Advance(count[0]); err != nil {
					t.Fatal(err)
				}
				next := state[:0:0]
				for i := range tapes.Absorb.Outputs {
					next = append(next, absorb.Output(i)...)
				}
				l.pack(state)
				isNearAll(t, step, "state", next, state)
				copy(state, next)
			}
		})
	}
}

func isNearAll(t *testing.T, step int, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("step %d: %d numbers of %s, want %d", step, len(got), what, len(want))
	}
	for i, w := range want {
		if math.Abs(got[i]-w) > 1e-9*(1+math.Abs(w)) {
			t.Fatalf("step %d: %s[%d] = %.17g, want %.17g", step, what, i, got[i], w)
		}
	}
}
