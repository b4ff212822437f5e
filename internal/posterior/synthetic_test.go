package posterior

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

// onePlace is a group of one place.
func onePlace(theta []float64, clipNorm float64) [][]place { return [][]place{{{theta, clipNorm}}} }

// unclippedPlaces are one place without clipping.
func unclippedPlaces(theta []float64) [][]place { return onePlace(theta, math.MaxFloat64) }

const straight = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 500}
  columns:
    x: {type: real, lower: -9, upper: 9, scale: {center: 0, by: 1}}
    y: {type: real, lower: -90, upper: 90, scale: {center: 0, by: 1}}
core:
  params:
    a: normal(0, 1)
    b: normal(0, 1)
  rows:
    observe:
      y: normal(a + b * x, 1)
`

// at is a sequence that repeats theta.
func at(theta []float64) func(int) []float64 { return func(int) []float64 { return theta } }

// Unclipped gradients of a linear model with noise of variance 1 have mean
// N(θ* − θ), slope N and, at their own θ, variance N.
func TestMomentsOfALinearModel(t *testing.T) {
	m := modelstest.Compile(t, "straight.yaml", straight)
	s := simulation{model: m, law: m.DeclaredLaw(), seed: 5}
	truth, asked := []float64{0.4, -0.8}, []float64{0.5, -1}
	const n = 500
	x := s.momentsAt(at(truth), effects{}, unclippedPlaces(asked), n, 20000)
	for i := range 2 {
		// Records are (1, x)·(e + d·(1, x)), d = truth − asked: with the score as
		// control variate their mean has variance below 20 d², d² = 0.05, per record.
		stattest.Require(t, "mean", stattest.Normal((x.mean[i]-n*(truth[i]-asked[i]))/(n*math.Sqrt(1.0/20000))))
		for j := range 2 {
			want := 0.0
			if i == j {
				want = n
			}
			// Products of up to four normals over 4000 records: a variance below 100.
			stattest.Require(t, "slope", stattest.Normal((x.slope.At(i, j)-want)/(n*math.Sqrt(100.0/slopeRecords))))
		}
	}
	own := s.momentsAt(at(truth), effects{}, unclippedPlaces(truth), n, slopeRecords)
	for i := range 2 {
		for j := range 2 {
			if d := own.slope.At(i, j) - own.variance.At(i, j); math.Abs(d) > 0.01*n {
				t.Errorf("at their own parameters the slope differs from the variance by %g", d)
			}
		}
	}
}

// The gradient of the log likelihood is that of its values, also of a model with a
// scale of effects.
func TestSyntheticGradient(t *testing.T) {
	m, theta, q := cohort(t)
	s := simulation{model: m, law: m.DeclaredLaw(), seed: 5}
	scales := findScales(m, q, theta)
	if len(scales) != 1 {
		t.Fatalf("%d scales, want 1", len(scales))
	}
	x := s.momentsAt(at(theta), effects{scales, theta}, onePlace(theta, 0.5), 2000, slopeRecords)
	f := slices.Clone(x.mean)
	rng := noise.NewRandom(noise.Public(4).Stream(noise.Simulation))
	for j := range f {
		f[j] += 30 * rng.Normal()
	}
	likelihood := newSynthetic(f, 25, nil, x)
	if likelihood == nil {
		t.Fatal("no likelihood")
	}
	there, gradient, unused := make([]float64, m.P), make([]float64, m.P), make([]float64, m.P)
	for j := range there {
		there[j] = theta[j] + 0.2*rng.Normal()
	}
	likelihood.addDensity(gradient, there)
	for j := range there {
		const h = 1e-5
		there[j] += h
		above := likelihood.addDensity(unused, there)
		there[j] -= 2 * h
		below := likelihood.addDensity(unused, there)
		there[j] += h
		if want := (above - below) / (2 * h); math.Abs(gradient[j]-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("coordinate %d: %g, want %g", j, gradient[j], want)
		}
	}
}

// Raising log sd and lowering all effects by the same factor changes no record's
// likelihood, so it does not change that of the releases.
func TestScaleOfEffectsIsNotSeen(t *testing.T) {
	m, theta, q := cohort(t)
	s := simulation{model: m, law: m.DeclaredLaw(), seed: 5}
	scales := findScales(m, q, theta)
	x := s.momentsAt(at(theta), effects{scales, theta}, onePlace(theta, 0.5), 2000, slopeRecords)
	f := slices.Clone(x.mean)
	for j := range f {
		f[j] += float64(j)
	}
	likelihood, unused := newSynthetic(f, 25, nil, x), make([]float64, m.P)
	there := slices.Clone(theta)
	there[scales[0].at] += 0.7
	before := likelihood.addDensity(unused, theta)
	if changed := likelihood.addDensity(unused, there); math.Abs(changed-before) < 1e-3 {
		t.Errorf("log sd alone changes %g to %g: a test of nothing", before, changed)
	}
	for _, j := range scales[0].effects {
		there[j] *= math.Exp(-0.7)
	}
	if after := likelihood.addDensity(unused, there); math.Abs(after-before) > 1e-9*(1+math.Abs(before)) {
		t.Errorf("the log likelihood went from %g to %g", before, after)
	}
}

// Over a spread of truths the slope is the mean one, flatter than that at the middle
// of a logistic curve, and what is not linear adds variance.
func TestMomentsOverASpread(t *testing.T) {
	m := modelstest.Compile(t, "study.yaml", study)
	s := simulation{model: m, law: m.DeclaredLaw(), seed: 5}
	middle := []float64{0, 0, 0}
	spread := func(i int) []float64 { return []float64{2 * float64(i%2*2-1), 0, 0} }
	places := onePlace(middle, 1)
	const n = 1000
	alone := s.momentsAt(at(middle), effects{}, places, n, slopeRecords)
	wide := s.momentsAt(spread, effects{}, places, n, slopeRecords)
	if ratio := wide.slope.At(0, 0) / alone.slope.At(0, 0); ratio > 0.6 || ratio < 0.3 { // 4·p(1 − p) = 0.42 at 2
		t.Errorf("the slope over a spread is %.2f times that at its middle, want 0.42", ratio)
	}
	if math.Abs(wide.point[0]) > 1e-12 {
		t.Errorf("the mean of the truths is %v", wide.point)
	}
	skew := func(i int) []float64 { return []float64{3 * float64(i%2), 0, 0} }
	bent := s.momentsAt(skew, effects{}, places, n, slopeRecords)
	// Slopes of 0.25 and 0.045 by chance differ less than this from 0.15: 1.5·0.1·n/2.
	if got := math.Sqrt(bent.variance.At(0, 0)); got < 40 {
		t.Errorf("the standard deviation with what is not linear is %.0f, want about 75", got)
	}
}

const study = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    u: {type: real, lower: -6, upper: 6, scale: {center: 0, by: 1}}
    v: {type: real, lower: -6, upper: 6, scale: {center: 0, by: 1}}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1 + u + v
  family: bernoulli
`

// Slopes have as many simulated records as the plan, from 4000 to 20,000: with 1 % of events the one of
// the intercept has the relative standard deviation 1/√(.0099·20000) = .071, with 4000 records .16.
func TestSlopesHaveTheRecordsOfThePlan(t *testing.T) {
	m := modelstest.Compile(t, "study.yaml", study)
	rare := []float64{math.Log(0.01 / 0.99), 0, 0}
	const seeds, n = 20, 300000
	sum, square := 0.0, 0.0
	for seed := range seeds {
		s := simulation{model: m, law: m.DeclaredLaw(), seed: uint64(seed)}
		x := s.momentsAt(at(rare), effects{}, unclippedPlaces(rare), n, mostSlopeRecords)
		ratio := x.slope.At(0, 0) / (0.0099 * n)
		sum, square = sum+ratio, square+ratio*ratio
	}
	mean := sum / seeds
	if sd := math.Sqrt(square/seeds - mean*mean); sd > 0.11 || math.Abs(mean-1) > 0.08 {
		t.Errorf("slopes are %.3f times the information, with the standard deviation %.3f, want 1 and .071", mean, sd)
	}
	for entries, want := range map[int]int{0: slopeRecords, 6: mostSlopeRecords} {
		s := simulation{model: &models.Model{P: 1000}, entries: entries}
		if got := s.recordsOfSlope(n); got != want {
			t.Errorf("%d records for slopes of 1000 parameters, of which a record sees %d, want %d", got, entries, want)
		}
	}
}

// A product after another one that differs in few coordinates, or in many, is the whole product.
func TestLastProduct(t *testing.T) {
	const p = 100
	rng := noise.NewRandom(noise.Insecure(3).Stream(noise.Initialisation))
	a, x, got, want := mat.NewSymDense(p, nil), make([]float64, p), make([]float64, p), make([]float64, p)
	for i := range p {
		x[i] = rng.Normal()
		for j := range i + 1 {
			a.SetSym(i, j, rng.Normal())
		}
	}
	q := newLastProduct(p)
	for _, changes := range []int{0, 1, 5, 1, p, 6, 7, 2, 0} {
		for range changes {
			x[int(rng.Uniform()*p)] += rng.Normal()
		}
		q.of(got, a, x)
		multiply(want, a, x)
		for i := range p {
			if math.Abs(got[i]-want[i]) > 1e-10*p {
				t.Fatalf("after %d changes entry %d is %g, want %g", changes, i, got[i], want[i])
			}
		}
	}
}

// Truths that f has told are nearer to it than others: with the errors ±d of an intercept, records have residuals of
// squared size 1 + d² on average about a place between them, those of f have 1 − d². Chance moves the difference by
// √15·d/√20000 = .008.
func TestMomentsWithoutOptimism(t *testing.T) {
	m := modelstest.Compile(t, "normal.yaml", strings.NewReplacer(`{type: binary, levels: ["0", "1"]}`, "{type: real, lower: -90, upper: 90, scale: {center: 0, by: 1}}", "bernoulli", "normal").Replace(study))
	s := simulation{model: m, law: m.DeclaredLaw(), seed: 5}
	const n, d = 1000, 0.3
	level, sigma := param(t, m, "Intercept").Offset, residualSD(m)
	spread := func(i int) []float64 {
		theta := make([]float64, m.P)
		theta[level] = d * float64(i%2*2-1)
		return theta
	}
	excess := func() float64 {
		return s.momentsAt(spread, effects{}, unclippedPlaces(make([]float64, m.P)), n, mostSlopeRecords).mean[sigma] / n
	}
	if got := excess(); math.Abs(got-d*d) > 0.03 {
		t.Errorf("without a gain squared residuals are %.3f above 1, want %.3f", got, d*d)
	}
	s.gain = mat.NewDense(m.P, m.P, nil)
	for j := range m.P {
		s.gain.Set(j, j, 1)
	}
	if got := excess(); math.Abs(got+d*d) > 0.03 {
		t.Errorf("squared residuals of truths that were told are %.3f above 1, want %.3f", got, -d*d)
	}
}
