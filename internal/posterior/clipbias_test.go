package posterior

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/interp"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/guide"
	"d3p/internal/models/modelstest"
	"d3p/internal/stats"
	"d3p/internal/stattest"
)

// Clipped gradients balance the prior's at a residual standard deviation far below the true one.
// The correction gives it the posterior that simulations at many truths have, without and with the
// privacy noise.
func TestClippedResidualSDIsCorrected(t *testing.T) {
	stattest.SkipNumerics(t)
	m := modelstest.Compile(t, "residuals.yaml", modelstest.Residuals)
	at, prior := residualSD(m), m.NewPriorDensity()
	const clipNorm, records = 0.5, 1000
	theta := func(logSD float64) []float64 {
		out := make([]float64, m.P)
		out[at] = logSD
		return out
	}
	sum := func(truth, where float64) (total float64) { // of clipped gradients, for this many records
		const simulated = 20_000
		simulation{model: m, law: m.DeclaredLaw(), seed: 11}.eachRecord(theta(truth), theta(where), simulated, func(g, _ []float64) {
			total += clipFactor(g, clipNorm) * g[at] * records / simulated
		})
		return total
	}
	slope := func(where float64) float64 {
		g := make([]float64, m.P)
		prior.Gradient(g, theta(where))
		return g[at]
	}
	all := func(x float64) []float64 { return slices.Repeat([]float64{x}, m.P) }
	for _, truth := range []float64{-1.5, 0, 0.5} {
		low, high := -4.0, 2.0
		for range 16 { // the fit ends where the sum is zero
			if middle := (low + high) / 2; sum(truth, middle)+slope(middle) > 0 {
				low = middle
			} else {
				high = middle
			}
		}
		var grid, sums []float64
		for x := low - 1.5; x < low+2; x += 0.05 {
			grid, sums = append(grid, x), append(sums, sum(x, low)+slope(low))
		}
		for _, h := range []float64{400, 3000} {
			moments := func(variance float64) (mean, sd float64) {
				var logs []float64
				for i, x := range grid {
					logs = append(logs, prior.LogDensity(theta(x))-sums[i]*sums[i]/(2*variance))
				}
				mean, variance = stats.GridMoments(grid, logs)
				return mean, math.Sqrt(variance)
			}
			c := &curvature{GradientSums: GradientSums{Totals: []float64{1, h, 0, 0}, Prior: all(0), Square: all(1)}, floor: all(1)}
			j := &jointNormal{simulation: simulation{model: m, law: m.DeclaredLaw(), seed: 5}, records: records, curvature: c, prior: prior, clipNorm: clipNorm,
				releases: Releases{Guide: guide.NewMeanField(m.P), Lambda: append(theta(low), all(-7)...)}}
			j.scores = newScores(m, theta(low), j.law, j.random())
			post := &Posterior{Mean: theta(low), LogSD: all(0), VarDP: all(0)}
			others, one := []int{0, 1}, mat.NewSymDense(2, []float64{1, 0, 0, 1})
			j.correctClipBias(post, clipBias{others, one, one, all(h), nil, fittedAs(post.Mean, post.Mean, nil, nil, nil)})

			_, exact := moments(h)
			mean, total := moments(2 * h)
			gotExact, gotTotal := math.Exp(post.LogSD[at]), math.Sqrt(math.Exp(2*post.LogSD[at])+post.VarDP[at])
			if truth-low < 0.3 || math.Abs(post.Mean[at]-mean) > 0.03+0.05*total || math.Abs(gotExact/exact-1) > 0.05 || math.Abs(gotTotal/total-1) > 0.05 {
				t.Errorf("log sd %.2f, information %g: the fit ends at %.2f and is corrected to %.3f ± %.3f (%.3f without noise), want %.3f ± %.3f (%.3f)",
					truth, h, low, post.Mean[at], gotTotal, gotExact, mean, total, exact)
			}
			if h == 400 && math.Abs(mean-truth) > 0.06 {
				t.Errorf("log sd %.2f: simulations say %.2f", truth, mean)
			}
		}
	}
}

const fiveComponents = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    x: {type: real, lower: -6, upper: 6, scale: {center: 0, by: 1}}
    z: {type: real, lower: -6, upper: 6, scale: {center: 0, by: 1}}
core:
  dims:
    k: 5
    d: [x, z]
  params:
    mus: normal(0, 1) [k, d]
    sigs: inverse_gamma(1, 1) [k]
  rows:
    observe:
      d: mixture([0.2, 0.2, 0.2, 0.2, 0.2], normal(mus, sigs), over=k)
`

// Simulations with a very wide component have clipped gradients that add up to zero again. The
// correction keeps to the end of the fit, near which they do, too.
func TestCorrectionStaysBesideOtherZeros(t *testing.T) {
	stattest.SkipNumerics(t)
	m := modelstest.Compile(t, "fiveComponents.yaml", fiveComponents)
	all := func(x float64) []float64 { return slices.Repeat([]float64{x}, m.P) }
	theta := []float64{0, 0, 2, 2, -2, -2, -2, 2, 2, -2, -0.35, -0.35, -0.35, -0.35, -0.35}
	const h, first = 400, 10
	c := &curvature{GradientSums: GradientSums{Totals: []float64{1, h, 0, 0}, Prior: all(0), Square: all(1)}, floor: all(1)}
	j := &jointNormal{simulation: simulation{model: m, law: m.DeclaredLaw(), seed: 5}, records: 1000, curvature: c, prior: m.NewPriorDensity(), clipNorm: 1,
		releases: Releases{Guide: guide.NewMeanField(m.P), Lambda: append(slices.Clone(theta), all(-7)...)}}
	j.scores = newScores(m, theta, j.law, j.random())
	post := &Posterior{Mean: slices.Clone(theta), LogSD: all(-1), VarDP: all(0)}
	free := make([]int, first)
	one := mat.NewSymDense(first, nil)
	for i := range free {
		free[i] = i
		one.SetSym(i, i, 1)
	}
	j.correctClipBias(post, clipBias{free, one, one, all(h), nil, fittedAs(post.Mean, post.Mean, nil, nil, nil)})
	for k := first; k < m.P; k++ {
		if sd := math.Sqrt(math.Exp(2*post.LogSD[k]) + post.VarDP[k]); math.Abs(post.Mean[k]-theta[k]) > 0.4 || sd > 0.5 {
			t.Errorf("log sd of component %d: %.2f ± %.2f after the correction, %.2f before", k-first+1, post.Mean[k], sd, theta[k])
		}
	}
}

// An intercept and the effects that move against it are unknown together. The records' spread
// depends on what is unknown of the effects beside a known intercept.
func TestSpreadOfEffectsLeavesOutTheIntercept(t *testing.T) {
	const own, shared = 0.2, 3.0 // standard deviations of an effect, and of the intercept
	covariance := mat.NewSymDense(4, nil)
	covariance.SymOuterK(shared*shared, mat.NewDense(4, 1, []float64{1, -1, -1, -1}))
	for i := range 4 {
		covariance.SetSym(i, i, covariance.At(i, i)+own*own)
	}
	b := clipBias{free: []int{0, 1, 2, 4}, covariance: covariance, scales: []scaleEstimate{{scale: scale{3, []int{1, 2, 4}}}}}
	// beside a known intercept the shared part has the standard deviation own·shared/√(own² + shared²)
	want := math.Hypot(own, own*shared/math.Hypot(own, shared))
	for k, x := range b.spreadOfEffects(5) {
		if isEffect := k != 0 && k != 3; isEffect && math.Abs(x-want) > 1e-9 || !isEffect && x != 0 {
			t.Errorf("coordinate %d: %v", k, x)
		}
	}
}

// What unknown effects of groups add to residuals is taken from their standard deviation once, by separateResidual:
// the correction gives it the same value beside known effects and beside unknown ones.
func TestCorrectionLeavesEffectsToSeparateResidual(t *testing.T) {
	m := modelstest.Compile(t, "groups.yaml", strings.NewReplacer("    y:", "    site: {type: category, levels: [1, 2, 3, 4, 5, 6]}\n    y:", "1 + u", "1 + u + (1 | site)",
		"    sigma:", "    sd: half_normal(1)\n    sigma:").Replace(modelstest.Residuals))
	at, theta, free := residualSD(m), make([]float64, m.P), realValued(m)
	for i, k := range free { // effects that are 0 show no scale
		theta[k] = 0.3 * float64(1-2*(i%2))
	}
	all := func(x float64) []float64 { return slices.Repeat([]float64{x}, m.P) }
	c := &curvature{GradientSums: GradientSums{Totals: []float64{1, 400, 0, 0}, Prior: all(0), Square: all(1)}, floor: all(1)}
	j := &jointNormal{simulation: simulation{model: m, law: m.DeclaredLaw(), seed: 5}, records: 1000, curvature: c, prior: m.NewPriorDensity(), clipNorm: 1,
		releases: Releases{Guide: guide.NewMeanField(m.P), Lambda: append(slices.Clone(theta), all(-7)...)}}
	j.scores = newScores(m, theta, j.law, j.random())
	var scales []scaleEstimate
	for _, s := range findScales(m, j.scores, theta) {
		scales = append(scales, scaleEstimate{scale: s})
	}
	var got []float64
	for _, variance := range []float64{1e-4, 1} {
		information, covariance := mat.NewSymDense(len(free), nil), mat.NewSymDense(len(free), nil)
		for i := range free {
			information.SetSym(i, i, 1e-12) // no move of the free coordinates
			covariance.SetSym(i, i, variance)
		}
		post := &Posterior{Mean: slices.Clone(theta), LogSD: all(0), VarDP: all(0)}
		j.correctClipBias(post, clipBias{free, information, covariance, all(400), scales, fittedAs(theta, theta, scales, free, nil)})
		got = append(got, post.Mean[at])
	}
	if len(scales) != 1 || got[0] == 0 || math.Abs(got[1]-got[0]) > 1e-9 {
		t.Errorf("%d scales; log sd %.3f beside known effects, %.3f beside unknown ones", len(scales), got[0], got[1])
	}
}

// Points that are equal, or no numbers, give no curve; gonum would panic.
func TestCurvesNeedDistinctPoints(t *testing.T) {
	y := []float64{0, 1, 3, 4}
	for _, x := range [][]float64{{1, 1, 1, 1}, {1e17, 1e17 + 1, 1e17 + 2, 1e17 + 3}, {0, math.NaN(), 2, 3}, {3, 2, 1, 0}} {
		if passes(new(interp.FritschButland), x, y) {
			t.Errorf("a curve passes through %v", x)
		}
	}
	if !passes(new(interp.FritschButland), []float64{0, 1, 2, 3}, y) || passes(new(interp.FritschButland), []float64{0, 1, 2, 3}, []float64{0, 1, math.Inf(1), 4}) {
		t.Error("curves pass through finite points alone")
	}
}
