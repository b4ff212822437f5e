package accountant

import (
	"math"
	"testing"

	"d3p/internal/privacy/event"
)

// Of T Gaussian releases the divergence is α T/(2σ²) in closed form.
func TestRenyiCurveOfGaussians(t *testing.T) {
	points, err := RenyiCurve(event.SelfComposed{Of: event.Gaussian{NoiseMultiplier: 5}, Count: 30}, event.AddRemove)
	if err != nil || len(points) < 20 || points[0].Order != 2 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	for _, p := range points {
		if want := p.Order * 30 / (2 * 25); math.Abs(p.Epsilon-want) > 1e-12*want {
			t.Errorf("order %g: %g, want %g", p.Order, p.Epsilon, want)
		}
	}
}

// At order 2 the sampled Gaussian has the second moment 1 + q²(e^(1/σ²) - 1).
func TestRenyiCurveOfSampledGaussian(t *testing.T) {
	const q, sigma = 0.01, 1.1
	points, err := RenyiCurve(event.PoissonSampled{Rate: q, Of: event.Gaussian{NoiseMultiplier: sigma}}, event.AddRemove)
	want := math.Log1p(q * q * math.Expm1(1/(sigma*sigma)))
	if err != nil || math.Abs(points[0].Epsilon-want) > 1e-12*want {
		t.Errorf("%v, want %g (%v)", points[:1], want, err)
	}
}

func TestRenyiCurveOfInfiniteLosses(t *testing.T) {
	if points, err := RenyiCurve(event.EpsilonDelta{Epsilon: 1, Delta: 1e-5}, event.AddRemove); len(points) != 0 || err != nil {
		t.Errorf("%v, %v", points, err)
	}
}
