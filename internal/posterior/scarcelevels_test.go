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
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
	"d3p/internal/simd"
)

const banded = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 4000}
  columns:
    u: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}}
    band: {type: category, levels: [a, b, c, d]}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1 + u + band
  family: bernoulli
  priors:
    b: normal(0, 1)
    Intercept: normal(0, 1)
`

// bandedFit is a plan whose law was bought: level at of band has count records ± sd, and the others
// have the rest. Its fit ended at fitted (P).
func bandedFit(t *testing.T, at int, count, sd float64, fitted []float64) (*plan.Plan, Releases) {
	p, err := plan.New(modelstest.Compile(t, "banded.yaml", banded), plan.Config{Epsilon: 1, Table1: "auto"})
	if err != nil {
		t.Fatal(err)
	}
	p.NoiseAware = settings.NoiseAwareCurvature
	l := p.Model().DeclaredLaw().Copy()
	c := l.Column("band")
	for k := range 4 {
		c.Shares, c.ShareSD = append(c.Shares, (1-count/4000)/3), append(c.ShareSD, sd/4000)
		if k == at {
			c.Shares[k] = count / 4000
		}
	}
	p.Bought = l
	r := Releases{Guide: guide.NewMeanField(p.Latent), Steps: p.Steps, Averaged: true, Gradients: NewGradientSums(p.Latent)}
	r.Lambda = append(slices.Clone(fitted), slices.Repeat([]float64{math.Log(0.05)}, p.Latent)...)
	copy(r.Gradients.Totals, []float64{1, 25, 5, 25})
	copy(r.Gradients.Place, fitted)
	return p, r
}

// A fit took the coefficient of level d to 3 prior standard deviations. If 60 ± 40 records have the
// level, they hardly hold it there, so it is near the prior; of 400 ± 40 it keeps its distribution.
// A gradient of 15 ± 5 of 110 ± 40 records with information .2 each says .7, with more than the
// standard deviation .3 that it would have if there were 110.
func TestScarceLevel(t *testing.T) {
	for _, c := range []struct {
		count, end, gradient, mean, sd float64
	}{{60, 3, 0, 0.4, 1}, {400, 3, 0, 3, 0.3}, {110, 0, 15, 0.7, 0.5}} {
		end := []float64{0.2, 0.5, 0, 0, c.end}
		names := modelstest.Compile(t, "banded.yaml", banded).Names()
		if strings.Join(names, " ") != "Intercept b[u] b[band=b] b[band=c] b[band=d]" {
			t.Fatal(names)
		}
		p, r := bandedFit(t, 3, c.count, 40, end)
		r.Gradients.LikelihoodSlope[4] = c.gradient
		first := &Posterior{Plan: p}
		covariance := mat.NewSymDense(5, nil)
		for i := range 5 {
			covariance.SetSym(i, i, 0.09)
		}
		if !first.setMeanAndCovariance(slices.Clone(end), covariance, mat.NewSymDense(5, nil)) {
			t.Fatal("no joint normal")
		}
		got := withScarceLevels(p, r, first)
		sd := make([]float64, 5)
		got.SD(sd)
		t.Logf("%g records: %.2f ± %.2f", c.count, got.Mean, sd)
		if math.Abs(got.Mean[4]-c.mean) > 0.25 || math.Abs(sd[4]-c.sd) > 0.12 {
			t.Errorf("%g records: %.2f ± %.2f, want about %g ± %g", c.count, got.Mean[4], sd[4], c.mean, c.sd)
		}
		for j := range 4 {
			if math.Abs(got.Mean[j]-end[j]) > 1e-6 || math.Abs(sd[j]-0.3) > 1e-3 {
				t.Errorf("%g records: %s became %.3f ± %.3f", c.count, names[j], got.Mean[j], sd[j])
			}
		}
	}
}

// Records of the first level are those of the intercept alone. Where they are scarce, it moves, and
// the coefficients of all other levels move against it, in a joint normal and in a sample.
func TestScarceReference(t *testing.T) {
	end := []float64{2, 0.5, -2.5, -1.5, -2}
	p, r := bandedFit(t, 0, 20, 40, end)
	first := &Posterior{Plan: p}
	covariance := mat.NewSymDense(5, nil)
	for i := range 5 {
		covariance.SetSym(i, i, 0.01)
	}
	if !first.setMeanAndCovariance(slices.Clone(end), covariance, mat.NewSymDense(5, nil)) {
		t.Fatal("no joint normal")
	}
	draws := make([]float64, 4000*5)
	first.Draws(draws, noise.Public(1).Stream(noise.Simulation))
	for name, post := range map[string]*Posterior{"joint normal": first, "sample": OfSample(p, draws, chains)} {
		got := withScarceLevels(p, r, post)
		after := make([]float64, 4000*5)
		next := got.Sequence(4000, noise.Public(2).Stream(noise.Simulation))
		for i := range 4000 {
			next(after[i*5 : (i+1)*5])
		}
		mean, c := drawMoments(after, 5)
		// the prior of the intercept a where the predictors of others are -.5, .5 and 0: exp(-(a² +
		// (a + .5)² + (a - .5)² + a²)/2)
		if sd := math.Sqrt(c.At(0, 0)); math.Abs(mean[0]) > 0.2 || math.Abs(sd-0.5) > 0.06 {
			t.Errorf("%s: the intercept is %.2f ± %.2f, want 0 ± .5", name, mean[0], sd)
		}
		for k := 2; k < 5; k++ {
			variance := c.At(0, 0) + c.At(k, k) + 2*c.At(0, k)
			if want := end[0] + end[k]; math.Abs(mean[0]+mean[k]-want) > 0.02 || math.Abs(variance-0.02) > 0.003 {
				t.Errorf("%s: predictor %d is %.3f with variance %.4f, want %g, .02", name, k, mean[0]+mean[k], variance, want)
			}
		}
	}
}

// A model whose coefficients are all positive has no direction of a level.
func TestNoRealCoefficient(t *testing.T) {
	p, r := bandedFit(t, 3, 60, 40, make([]float64, 5))
	p2, err := plan.New(modelstest.Compile(t, "banded.yaml", strings.ReplaceAll(banded, " normal(", " log_normal(")), plan.Config{Epsilon: 1, Table1: "auto"})
	if err != nil {
		t.Fatal(err)
	}
	p2.NoiseAware, p2.Bought = p.NoiseAware, p.Bought
	if post, err := New(t.Context(), p2, r); err != nil || !simd.Finite(post.Mean) {
		t.Errorf("error %v, mean %v", err, post.Mean)
	}
}

// A level has a direction if the other records leave exactly one open. Coefficients of its own, as
// of an interaction, leave two.
func TestDirectionOfLevel(t *testing.T) {
	for _, c := range []struct {
		formula string
		level   int
		want    []float64
	}{
		{"y ~ 1 + u + band", 3, []float64{0, 0, 0, 0, 1}},
		{"y ~ 1 + u + band", 0, []float64{.5, 0, -.5, -.5, -.5}},
		{"y ~ 1 + u * band", 3, nil},
	} {
		m := modelstest.Compile(t, "banded.yaml", strings.Replace(banded, "y ~ 1 + u + band", c.formula, 1))
		s := simulation{model: m, law: m.DeclaredLaw(), seed: 1}
		s.law.Column("band").Shares = slices.Repeat([]float64{0.25}, 4)
		got := s.directionOfBand(m, c.level)
		if (got == nil) != (c.want == nil) {
			t.Fatalf("%s: direction %v, want %v", c.formula, got, c.want)
		}
		for j, x := range c.want {
			if math.Abs(math.Abs(got[j])-math.Abs(x)) > 1e-6 || got[j]*got[len(got)-1]*x*c.want[len(c.want)-1] < -1e-9 {
				t.Errorf("%s: direction %.3f, want %v or its negative", c.formula, got, c.want)
			}
		}
	}
}

func (s simulation) directionOfBand(m *models.Model, level int) []float64 {
	free, prior := make([]int, m.P), mat.NewSymDense(m.P, nil)
	for j := range free {
		free[j] = j
		prior.SetSym(j, j, 1)
	}
	return s.direction(scarceLevel{others: s.withShare(1, level, 0)}, make([]float64, m.P), free, prior)
}

// Where the number of records is nearly known, 400 ± 20, the gradient is normal: N(400 c, 400 s + v +
// (20 c)²).
func TestLikelihoodOfLevel(t *testing.T) {
	l := levelMeasurement{scarceLevel: scarceLevel{count: 400, sd: 20}, gradient: 40, variance: 25}
	want := func(c, s float64) float64 {
		variance := 400*s + 25 + 400*c*c
		return -math.Pow(40-400*c, 2)/(2*variance) - math.Log(variance)/2
	}
	zero := l.logLikelihood(0.1, 0) - want(0.1, 0)
	for _, x := range [][2]float64{{0.15, 0}, {0.15, 0.2}, {0, 0.1}} {
		if got := l.logLikelihood(x[0], x[1]) - zero; math.Abs(got-want(x[0], x[1])) > 0.1 {
			t.Errorf("mean %g, variance %g: %.3f, want %.3f", x[0], x[1], got, want(x[0], x[1]))
		}
	}
}
