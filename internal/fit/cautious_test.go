package fit

import (
	"math"
	"testing"
)

// The part of the information that is believed is the one with which a known
// information has the variance of the posterior; the effects of a scale keep theirs.
func TestBelievedPart(t *testing.T) {
	c := newCurvature(3, []int{1, 2})
	c.Totals[0], c.Totals[1] = 10, 500 // v̄ = 5
	for j := range 3 {
		c.Square[j], c.Likelihood[j], c.Noise[j], c.Prior[j] = 1, 20, 1, 2 // h = 20, λ = 2
	}
	post := &Posterior{LogSD: make([]float64, 3), VarDP: make([]float64, 3)}
	for j, x := range []float64{8, 20, 8} {
		post.LogSD[j], post.VarDP[j] = math.Log(0.03)/2, 1/(2+x*x/(x+5))-0.03
	}
	got := c.believed(post, []float64{20, 20, 20}, []scale{{effects: []int{2}}})
	for j, want := range []float64{0.4, 1, 1} {
		if math.Abs(got[j]-want) > 1e-12 {
			t.Errorf("of coordinate %d the part %g is believed, want %g", j, got[j], want)
		}
	}
}
