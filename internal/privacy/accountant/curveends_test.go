package accountant

import (
	"math"
	"testing"

	"d3p/internal/privacy/event"
)

// A curve whose bound on ε is infinite at the smallest δ still has numbers
// everywhere: balls-and-bins has a floor below which its grid says nothing.
func TestCurveWithAFloor(t *testing.T) {
	t.Parallel()
	run := event.SelfComposed{Of: event.BallsAndBins{Batches: 10, Of: event.Gaussian{NoiseMultiplier: 6}}, Count: 20}
	c, err := NewCurve(run, event.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	mu, regret := c.DominatingMu()
	for name, v := range map[string]float64{
		"advantage": c.Advantage(), "fnr": c.Tradeoff(0.01), "delta": c.Delta(math.Inf(1)), "belief": c.Belief(0.1, 0.01), "mu": mu, "regret": regret,
	} {
		if math.IsNaN(v) || v < 0 {
			t.Errorf("%s is %g", name, v)
		}
	}
	at, err := Epsilon(run, event.AddRemove, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Epsilon(1e-5); !(got >= at.Lower && got <= at.Upper*1.05) {
		t.Errorf("the curve has epsilon %g at 1e-5, certified [%g, %g]", got, at.Lower, at.Upper)
	}
}

// The smallest mu covers the curve up to the delta where it is said to end, which is
// where sampled mechanisms need the most.
func TestDominatingMuCoversTheEnd(t *testing.T) {
	t.Parallel()
	run := event.SelfComposed{Of: event.PoissonSampled{Rate: 0.01, Of: event.Gaussian{NoiseMultiplier: 0.6}}, Count: 100}
	mu, _ := mustCurve(t, run, event.AddRemove).DominatingMu()
	for _, delta := range []float64{muMinDelta, 1e-9, 1e-6, 1e-3} {
		at := mustEpsilon(t, run, event.AddRemove, delta)
		if covered := gaussianDelta(mu, at.Lower/mu-mu/2); covered < delta {
			t.Errorf("mu %v has delta %v at epsilon %v, the run at least %v", mu, covered, at.Lower, delta)
		}
	}
}

// Without false positives a guarantee whose e^ε is infinite still bounds the test: it errs
// in all but δ of its cases.
func TestTradeoffOfALargeEpsilon(t *testing.T) {
	t.Parallel()
	c := mustCurve(t, event.Gaussian{NoiseMultiplier: 0.02}, event.AddRemove)
	if c.Epsilon(1e-5) < 710 {
		t.Fatalf("epsilon %g: its exponential is finite", c.Epsilon(1e-5))
	}
	if fnr := c.Tradeoff(0); !(fnr > 0.99 && fnr <= 1) {
		t.Errorf("without false positives the false-negative rate is at least %g", fnr)
	}
}
