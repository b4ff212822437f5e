package posterior

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/privacy/noise"
)

// Draws by laws that agree have no noise here, since their likelihoods have none; what laws
// disagree about is noise, all but the variance within the laws.
func TestDisagreementOfLawsCountsAsNoise(t *testing.T) {
	by := func(shift float64) *search {
		ones := mat.NewSymDense(2, []float64{1, 0, 0, 1})
		s := &search{likelihood: &synthetic{effects: effects{origin: make([]float64, 2)}, square: ones, exact: ones, at: make([]float64, 2)}}
		for i := range lastDraws {
			angle := 2 * math.Pi * float64(i) / lastDraws
			s.draws = append(s.draws, math.Sqrt2*math.Cos(angle)+shift, math.Sqrt2*math.Sin(angle)) // variance 1
		}
		return s
	}
	p := &plan.Plan{Latent: 2}
	for _, c := range []struct{ shift, noise float64 }{{0, 0}, {2, 4}} {
		post := ofLaws(p, Releases{}, []*search{by(c.shift), by(-c.shift)})
		if math.Abs(post.VarDP[0]-c.noise) > 0.05 || math.Abs(post.VarDP[1]) > 0.05 {
			t.Errorf("laws ±%g: noise variances %.3g, want %g and 0", c.shift, post.VarDP, c.noise)
		}
		if got := math.Exp(2 * post.LogSD[0]); math.Abs(got-1) > 0.05 {
			t.Errorf("laws ±%g: variance %.3g without the noise, want 1", c.shift, got)
		}
	}
}

// Records are simulated at truths half as far from the mean as the draws, but groups differ
// by all that the draws say.
func TestTruthsKeepTheSpreadOfGroups(t *testing.T) {
	s := &search{mean: []float64{1, 1, 1, 1}, scales: []scale{{at: 1, effects: []int{2, 3}}}}
	draw := []float64{3, 3, -1, 5}
	if got, want := s.truth(draw), []float64{2, 3, -1, 5}; !slices.Equal(got, want) {
		t.Errorf("truth %v of the draw %v, want %v", got, draw, want)
	}
}

// Draws whose coefficients lie many of their standard deviations, and half of one of the prior,
// from the end of the fit have left it. Effects of a scale may go anywhere. A joint normal that is
// there, too, confirms the draws.
func TestStrayedDrawsAreLeft(t *testing.T) {
	rng := noise.NewRandom(noise.Public(4).Stream(noise.Simulation))
	const sd = 0.04
	for _, c := range []struct {
		off  []float64 // of coefficient and effect, in standard deviations
		want bool
	}{{[]float64{0, 0}, false}, {[]float64{4, 0}, false}, {[]float64{30, 0}, true}, {[]float64{-30, 0}, true}, {[]float64{0, 30}, false}, {[]float64{12, 0}, false}} {
		s := &search{start: []float64{-3.8, 0}, coefficients: []bool{true, false}, floor: []float64{1, 1}}
		for range lastDraws {
			for j, off := range c.off {
				s.draws = append(s.draws, s.start[j]+sd*(off+rng.Normal()))
			}
		}
		if got := len(staying([]*search{s}, s.start)) == 0; got != c.want {
			t.Errorf("draws %v sds off: strayed %t", c.off, got)
		}
		if near := []float64{s.start[0] + sd*c.off[0], 0}; len(staying([]*search{s}, s.start, near)) == 0 {
			t.Errorf("draws %v sds off: strayed from there", c.off)
		}
	}
}
