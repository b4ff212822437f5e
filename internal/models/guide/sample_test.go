package guide

import (
	"math"
	"testing"
)

func TestSample(t *testing.T) {
	draws := []float64{1, 10, 2, 30, 6, 20} // three draws of two scalars
	g, err := New(SampleName, 2, Options{Draws: 3, Chains: 1})
	if err != nil {
		t.Fatal(err)
	}
	lambda := g.(Sample).Lambda(draws)
	if len(lambda) != g.Size() || g.Size() != 8 {
		t.Fatalf("%d parameters, size %d, want 8", len(lambda), g.Size())
	}
	if m := Location(g, lambda); math.Abs(m[0]-3) > 1e-15 || m[1] != 20 {
		t.Errorf("mean %v, want 3 and 20", m)
	}
	sd := make([]float64, 2)
	g.SD(sd, lambda)
	if math.Abs(sd[0]-math.Sqrt(7)) > 1e-14 || math.Abs(sd[1]-10) > 1e-14 {
		t.Errorf("standard deviations %v, want √7 and 10", sd)
	}
	theta := make([]float64, 2)
	// Φ(-40) = 0, Φ(0) = 1/2 and Φ(40) = 1 choose the first, the middle and the last.
	for i, eta := range []float64{-40, 0, 40} {
		g.Draw(theta, lambda, []float64{eta})
		if theta[0] != draws[2*i] || theta[1] != draws[2*i+1] {
			t.Errorf("η %v: draw %v, want %v", eta, theta, draws[2*i:2*i+2])
		}
	}
	if _, err := New(SampleName, 2, Options{}); err == nil {
		t.Error("a sample without draws is no error")
	}
}
