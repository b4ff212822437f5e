package posterior

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/models/modelstest"
)

// levelFit is ended of a logistic regression whose level is known to sd.
func levelFit(t *testing.T, fitted, truth []float64, noiseSD, sd float64) (*plan.Plan, Releases, *Posterior) {
	priors := strings.NewReplacer("b: normal(0, 3)", "b: normal(0, 1)", "Intercept: normal(0, 1)", "Intercept: normal(0, 2.5)")
	return ended(t, modelstest.Compile(t, "rare.yaml", priors.Replace(surely)), fitted, truth, noiseSD, []float64{sd * sd, 0.09, 0.09})
}

// ended is what a fit of m, of three parameters, releases that ended at fitted (P), if the truth is
// there, with noise of this standard deviation, and a joint normal posterior with these variances (P).
func ended(t *testing.T, m *models.Model, fitted, truth []float64, noiseSD float64, variances []float64) (*plan.Plan, Releases, *Posterior) {
	t.Helper()
	p, err := plan.New(m, plan.Config{Epsilon: 1, Table1: "none"})
	if err != nil {
		t.Fatal(err)
	}
	r := Releases{Guide: guide.NewMeanField(m.P), Steps: p.Steps, Averaged: true, Gradients: NewGradientSums(m.P)}
	r.Lambda = append(slices.Clone(fitted), slices.Repeat([]float64{math.Log(0.05)}, m.P)...)
	copy(r.Gradients.Totals, []float64{1, noiseSD * noiseSD, 1, 1})
	copy(r.Gradients.Place, fitted)
	s := newSimulation(p, r.Steps)
	copy(r.Gradients.LikelihoodSlope, s.momentsAt(at(truth), effects{origin: fitted}, r.places(s.random()), 1000, 40000).mean)
	post := &Posterior{Plan: p}
	covariance := mat.NewSymDense(m.P, nil)
	for j, v := range variances {
		covariance.SetSym(j, j, v)
	}
	if !post.setMeanAndCovariance(slices.Clone(fitted), covariance, mat.NewSymDense(m.P, nil)) {
		t.Fatal("no joint normal")
	}
	return p, r, post
}

// The fit of a rare outcome ended at a level of -2, the truth is -4, and the noise hides most of what
// gradients say of it: the posterior goes there. Where the outcome is not rare it stays.
func TestLevelOfRareOutcome(t *testing.T) {
	const sd = 0.6
	for _, c := range []struct{ fitted, truth, noiseSD float64 }{{-2, -4, 20}, {-0.5, -0.5, 60}} {
		fitted, truth := []float64{c.fitted, 0.5, -0.3}, []float64{c.truth, 0.5, -0.3}
		got := leveled(levelFit(t, fitted, truth, c.noiseSD, sd))
		if got == nil {
			t.Fatalf("level %g: not measured", c.truth)
		}
		sds := make([]float64, 3)
		got.SD(sds)
		t.Logf("level %g: %.2f ± %.2f, the others %.2f ± %.2f", c.truth, got.Mean[0], sds[0], got.Mean[1:], sds[1:])
		if z := (c.truth - got.Mean[0]) / sds[0]; math.Abs(z) > 1.645 {
			t.Errorf("level %g: %.2f ± %.2f", c.truth, got.Mean[0], sds[0])
		}
		if c.fitted == c.truth && math.Abs(got.Mean[0]-c.truth) > 0.3 {
			t.Errorf("level %g: the mean is %.2f", c.truth, got.Mean[0])
		}
	}
}

// A level that is known stays as it is.
func TestKnownLevelStays(t *testing.T) {
	place := []float64{-2, 0.5, -0.3}
	if leveled(levelFit(t, place, place, 1, 0.3)) != nil {
		t.Error("a known level has another posterior")
	}
}

// Draws at the mean's level keep their place about the centre there; at a level where the others
// are twice as wide they are twice as far from it.
func TestOthersBesideALevel(t *testing.T) {
	root := func(x float64) *mat.TriDense { return mat.NewTriDense(2, mat.Lower, []float64{x, 0, x / 2, x}) }
	l := &levels{
		levelSearch: levelSearch{at: 0, mean: []float64{0, 1, 2}, covariance: mat.NewSymDense(3, []float64{1, 0.5, 0, 0.5, 1, 0, 0, 0, 1})},
		list:        []atLevel{{level: -1, center: []float64{-1, 5, 7}, root: root(0.4)}, {level: 0, center: []float64{0, 1, 2}, root: root(0.2)}, {level: 1, center: []float64{1, 1, 2}, root: root(0.2)}},
	}
	l.first = l.list[1]
	draw := []float64{0.4, 1.2 + 0.1, 2.3} // 0.2 of the first is the level's
	for _, c := range []struct {
		level float64
		want  []float64
	}{{0, []float64{0, 1.1, 2.3}}, {-1, []float64{-1, 5.2, 7.6}}, {-0.5, []float64{-0.5, 3.15, 4.95}}} {
		theta := slices.Clone(draw)
		l.set(theta, c.level)
		for j, x := range c.want {
			if math.Abs(theta[j]-x) > 1e-9 {
				t.Errorf("level %g: coordinate %d is %g, want %g", c.level, j, theta[j], x)
			}
		}
	}
}

// The density of a level on its grid is that of the normal which the levels are of.
func TestLevelsOnGrid(t *testing.T) {
	l := &levels{}
	for i := range 13 {
		x := 0.6 * float64(i-6)
		l.list = append(l.list, atLevel{level: x, log: -x * x / 2})
	}
	if l.onGrid() == nil {
		t.Fatal("no grid")
	}
	if got, want := l.evidence(), math.Log(2*math.Pi)/2; math.Abs(got-want) > 0.01 {
		t.Errorf("log evidence %.4f, want %.4f", got, want)
	}
	l.list[3].log = math.NaN()
	if l.onGrid() != nil {
		t.Error("a grid of densities that are not finite")
	}
}
