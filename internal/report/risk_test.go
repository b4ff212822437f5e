package report

import (
	"math"
	"strings"
	"testing"
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
		r := RiskOf(c.epsilon, 1e-5)
		got := []float64{r.Advantage, r.TPRAtFPR["0.01"], r.Belief[1].MaxPosterior, r.Belief[2].MaxPosterior}
		for i, want := range []float64{c.advantage, c.tpr, c.belief10, c.belief50} {
			if math.Abs(got[i]-want) > 6e-4 {
				t.Errorf("epsilon %g, column %d: %.4f, want %.3f", c.epsilon, i, got[i], want)
			}
		}
	}
}

func TestRiskOfHugeEpsilon(t *testing.T) {
	r := RiskOf(1000, 1e-5)
	if r.Advantage != 1 || r.TPRAtFPR["0.01"] != 1 || r.Belief[0].MaxPosterior != 1 {
		t.Errorf("epsilon 1000 promises nothing, got %+v", r)
	}
}

func TestOddsNeverBelowChance(t *testing.T) {
	if s := odds(1e-9, 1e-9); !strings.Contains(s, "at most 11;") && !strings.Contains(s, "at most 10;") {
		t.Errorf("epsilon 0: %s", s)
	}
}
