package report_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/outputs"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
)

// The estimate of a standard normal density from 1000 draws: the smoothing
// flattens the peak of 0.399 to about 0.38, and the error of the sum is below
// 0.012, so 6.5 times that is not exceeded by chance (P < 1e-10).
func TestDensity(t *testing.T) {
	x := make([]float64, 1000)
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	points := report.Density(x, line, -4, 4)
	area := 0.0
	for _, p := range points {
		area += p.Y * 0.1
	}
	if peak := points[40]; peak.X != 0 || math.Abs(peak.Y-0.38) > 0.078 {
		t.Errorf("peak %+v, want about 0.38 at 0", peak)
	}
	if math.Abs(area-1) > 0.01 {
		t.Errorf("area %g", area)
	}
}

var line = outputs.Variable{Lower: math.Inf(-1), Upper: math.Inf(1)}

// The density of |x| has no mass below 0, and its area is 1 up to the trapezoidal rule.
// The true density at 0 is 0.798; without reflection the estimate there is half of it.
func TestDensityStaysWithinBounds(t *testing.T) {
	x := make([]float64, 1000)
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range x {
		x[i] = math.Abs(rng.NormFloat64())
	}
	area := 0.0
	for _, p := range report.Density(x, outputs.Variable{Upper: math.Inf(1)}, -4, 4) {
		if p.X < 0 && p.Y != 0 {
			t.Fatalf("density %g at %g", p.Y, p.X)
		}
		weight := 0.1
		if p.X == 0 {
			weight = 0.05
			if math.Abs(p.Y-0.78) > 0.16 {
				t.Errorf("density %g at 0, want about 0.78", p.Y)
			}
		}
		area += weight * p.Y
	}
	if math.Abs(area-1) > 0.01 {
		t.Errorf("area %g", area)
	}
}

// A constant has no density, and no NaN.
func TestDensityOfConstant(t *testing.T) {
	for _, p := range report.Density(make([]float64, 10), line, -1, 1) {
		if p.Y != 0 {
			t.Fatalf("%+v", p)
		}
	}
}

func TestOverlays(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	list := report.Overlays(run.Draws, run.Prior, 3)
	if len(list) != 3 {
		t.Fatalf("%d overlays", len(list))
	}
	for _, o := range list {
		if len(o.Prior) != 81 || o.From >= o.To {
			t.Errorf("%s from %g to %g, %d points", o.Name, o.From, o.To, len(o.Prior))
		}
	}
	name := list[0].Name
	for v, r := range run.Draws.Summarise() {
		if r.Variable == name { // made constant but for rounding, as a Cholesky factor's corner is
			for s := range run.Draws.Of(v) {
				run.Draws.Of(v)[s] = 1 + 2e-16*float64(s%2)
			}
		}
	}
	for _, o := range report.Overlays(run.Draws, run.Prior, 3) {
		if o.Name == name {
			t.Errorf("%s does not vary and has an overlay", name)
		}
	}
	if report.Overlays(run.Draws, nil, 3) != nil {
		t.Error("overlays without a prior")
	}
}
