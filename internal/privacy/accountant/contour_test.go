package accountant

import (
	"testing"

	"d3p/internal/privacy/event"
)

// With little noise the losses of a step are two clusters, and the characteristic
// function vanishes and comes back. A contour that ends where it vanishes is off by
// as much as 0.5 %, outside of the bracket, which is an error.
func TestContourWaitsForRevivals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sigma, q, delta float64
		steps           int64
	}{{0.08, 0.05, 1e-5, 12}, {0.08, 0.2865, 0.09, 24}, {0.10332741049849384, 0.2865047968601901, 0.09301448921066348, 24}} {
		run := event.SelfComposed{Of: event.PoissonSampled{Rate: c.q, Of: event.Gaussian{NoiseMultiplier: c.sigma}}, Count: c.steps}
		if a := mustEpsilon(t, run, event.AddRemove, c.delta); a.Upper-a.Lower > 1e-4*a.Upper {
			t.Errorf("wide: %+v", a)
		}
	}
}

// Where little noise hides the envelope's lower bound, that of the attacks holds.
func TestAttacksBoundTheEnvelope(t *testing.T) {
	if !soaking {
		t.Skip("four seconds: runs with D3P_SOAK")
	}
	run := event.SelfComposed{Of: event.FixedSizeSampled{Population: 1e9, Batch: 1082893, Of: event.Gaussian{NoiseMultiplier: 0.10151264309698983}}, Count: 54}
	if a := mustEpsilon(t, run, event.Substitute, 0.00046392797225353256); a.Upper-a.Lower > 2e-3*a.Upper {
		t.Errorf("wide: %+v", a)
	}
}
