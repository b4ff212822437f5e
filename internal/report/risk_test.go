package report

import (
	"math"
	"strings"
	"testing"

	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// The table of outputs.md, computed by hand at delta = 1e-5.
func TestRiskOf(t *testing.T) {
	for _, c := range []struct{ epsilon, advantage, tpr, belief10, belief50 float64 }{
		{0.1, 0.050, 0.011, 0.109, 0.525},
		{0.5, 0.245, 0.017, 0.155, 0.622},
		{1, 0.462, 0.027, 0.232, 0.731},
		{2, 0.762, 0.074, 0.451, 0.881},
		{3, 0.905, 0.201, 0.691, 0.953},
		{5, 0.987, 0.993, 0.943, 0.993},
	} {
		r := RiskOf(Point{c.epsilon, 1e-5}, nil)
		got := []float64{r.Advantage, r.TPRAtFPR["0.01"], r.Belief[1].MaxPosterior, r.Belief[2].MaxPosterior}
		for i, want := range []float64{c.advantage, c.tpr, c.belief10, c.belief50} {
			if math.Abs(got[i]-want) > 6e-4 {
				t.Errorf("epsilon %g, column %d: %.4f, want %.3f", c.epsilon, i, got[i], want)
			}
		}
	}
}

func TestRiskOfHugeEpsilon(t *testing.T) {
	r := RiskOf(Point{1000, 1e-5}, nil)
	if r.Advantage != 1 || r.TPRAtFPR["0.01"] != 1 || r.Belief[0].MaxPosterior != 1 {
		t.Errorf("epsilon 1000 promises nothing, got %+v", r)
	}
}

// The curve of a Gaussian mechanism allows less than the one point (1, 1e-5):
// outputs.md gives an advantage of 0.107 and 2.0 % true positives for the exact
// mu-GDP curve; a few points of it must come near, from above.
func TestCurveTightensTheRisk(t *testing.T) {
	ev := event.Gaussian{NoiseMultiplier: 1 / 0.268}
	answer, err := accountant.Epsilon(ev, event.AddRemove, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	r := RiskOf(Point{answer.Upper, 1e-5}, Curve(ev, event.AddRemove))
	if r.Advantage < 0.1066 || r.Advantage > 0.115 {
		t.Errorf("advantage %.4f, want a little above 0.107", r.Advantage)
	}
	if tpr := r.TPRAtFPR["0.01"]; tpr < 0.0199 || tpr > 0.0225 {
		t.Errorf("true positives %.4f, want a little above 0.020", tpr)
	}
}

func TestOdds(t *testing.T) {
	s := odds(RiskOf(Point{1, 1e-5}, nil))
	if !strings.Contains(s, "find at most 28;") { // 0.0272 without the curve
		t.Error(s)
	}
}
