package posterior

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/graph"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy/noise"
	"d3p/internal/stats"
)

// A residual standard deviation beside unknown coefficients has the law that draws of both have,
// weighted by what the fit says of their sum. Beside known ones it stays.
func TestResidualBesideUnknownCoefficients(t *testing.T) {
	m := modelstest.Compile(t, "residuals.yaml", modelstest.Residuals)
	at := residualSD(m)
	if at < 0 {
		t.Fatal("no residual standard deviation")
	}
	if bounded := strings.Replace(modelstest.Residuals, "half_normal(1)", "uniform(0, 5)", 1); residualSD(modelstest.Compile(t, "bounded.yaml", bounded)) >= 0 {
		t.Error("the coordinate of a bounded standard deviation is taken for its log")
	}
	const sd = 0.1
	j := &jointNormal{simulation: simulation{model: m, law: m.DeclaredLaw(), seed: 4}, prior: m.NewPriorDensity()}
	var free []int
	for k := range m.P {
		if k != at {
			free = append(free, k)
		}
	}
	information := newScores(m, make([]float64, m.P), j.law, j.random()).perRecord(free)
	for _, of := range []float64{0.001, 0.1, 0.5} { // the variance of each of two coefficients
		post := &Posterior{Mean: make([]float64, m.P), LogSD: slices.Repeat([]float64{math.Log(sd)}, m.P), VarDP: make([]float64, m.P)}
		j.separateResidual(post, widening{free: free}, informations{}, mat.NewSymDense(2, []float64{of, 0, 0, of}))
		got := math.Sqrt(math.Exp(2*post.LogSD[at]) + post.VarDP[at])
		if of == 0.001 {
			if post.Mean[at] != 0 || math.Abs(got/sd-1) > 1e-12 {
				t.Errorf("known coefficients: %.3f ± %.3f", post.Mean[at], got)
			}
			continue
		}
		theta := make([]float64, m.P)
		prior := func(x float64) float64 {
			theta[at] = x
			return j.prior.LogDensity(theta)
		}
		rng := noise.NewRandom(noise.Public(3).Stream(noise.Simulation))
		var place, logs []float64
		for range 400_000 {
			x := 8*rng.Uniform() - 7
			missed := mat.NewVecDense(2, []float64{math.Sqrt(of) * rng.Normal(), math.Sqrt(of) * rng.Normal()})
			u := math.Log(math.Exp(2*x)+mat.Inner(missed, information, missed)) / 2
			place, logs = append(place, x), append(logs, prior(x)-u*u/(2*sd*sd)-prior(u))
		}
		mean, variance := stats.GridMoments(place, logs)
		if math.Abs(post.Mean[at]-mean) > 0.03*math.Sqrt(variance) || math.Abs(got/math.Sqrt(variance)-1) > 0.03 {
			t.Errorf("coefficients with variance %g: %.3f ± %.3f, draws have %.3f ± %.3f", of, post.Mean[at], got, mean, math.Sqrt(variance))
		}
	}
}

// Effects that noise hides are missed whole, and the more the larger their scale may be.
func TestMissedEffectsOfAnUnknownScale(t *testing.T) {
	const effects, known, per, beyond, logSD = 5, 100.0, 0.02, 0.9, 0.5
	free := []int{0, 1, 2, 3, 4}
	diagonal := func(x float64) *mat.SymDense {
		out := mat.NewSymDense(effects, nil)
		for i := range effects {
			out.SetSym(i, i, x)
		}
		return out
	}
	w := widening{free: free, scales: []scaleEstimate{{scale: scale{effects, free}, total: logSD * logSD}}, prior: diagonal(1), ratio: slices.Repeat([]float64{1}, effects), noise: 1e9}
	of := informations{likelihood: diagonal(known), trusted: diagonal(known)}
	mean, second := 0.0, 0.0
	for z, weight := range map[float64]float64{0: 2.0 / 3, -math.Sqrt(3): 1.0 / 6, math.Sqrt(3): 1.0 / 6} {
		square := math.Exp(2 * z * logSD)
		missed := 1/(1+math.Pow(known*square, 2)/(known*square+1e9)) - 1/(1+known*square)
		if z == 0 {
			missed = beyond
		}
		m := effects * per * square * missed
		mean, second = mean+weight*m, second+weight*(m*m+2*m*m/effects)
	}
	got, variance := w.missed(diagonal(per), diagonal(beyond), of)
	if want := second - mean*mean; math.Abs(got/mean-1) > 1e-9 || math.Abs(variance/want-1) > 1e-9 {
		t.Errorf("mean %.5f, variance %.6f, want %.5f and %.6f", got, variance, mean, want)
	}
	w.scales = nil
	if got, variance = w.missed(diagonal(per), diagonal(beyond), of); math.Abs(got-effects*per*beyond) > 1e-12 || math.Abs(variance-2*got*got/effects) > 1e-12 {
		t.Errorf("of a known scale: mean %.5f, variance %.6f", got, variance)
	}
}

// What errors of another shape would change is the difference of two means of clipped gradients,
// and nothing where none is clipped or the response is not normal.
func TestErrorsOfAnotherShape(t *testing.T) {
	m := modelstest.Compile(t, "residuals.yaml", modelstest.Residuals)
	const records, norm = 1000, 2.0
	s := simulation{model: m, law: m.DeclaredLaw(), seed: 5}
	theta := make([]float64, m.P)
	got := s.ofUnlikeErrors(theta, []place{{theta, norm}}, records)
	for k, x := range s.ofUnlikeErrors(theta, []place{{theta, 1e9}}, records) {
		if math.Abs(x) > 1e-9 {
			t.Errorf("without clipping coordinate %d changes by %g", k, x)
		}
	}
	const draws = 200_000
	want, variance, g := make([]float64, m.P), make([]float64, m.P), make([]float64, m.P)
	rng := noise.NewRandom(noise.Public(9).Stream(noise.Simulation))
	shaped := func(w float64) float64 { e, _ := unlikeShape.At(w); return e }
	for sign, shape := range map[float64]func(float64) float64{1: shaped, -1: func(w float64) float64 { return w }} {
		machine := graph.NewMachine(m.Likelihood, draws)
		machine.Globals(theta, nil)
		machine.Records(simulate.WithErrors(m, theta, draws, s.law, rng, shape), m.Encoding.K, draws, nil)
		by := records * math.Sqrt(unlikeErrors)
		for r := range draws {
			machine.Gradient(r, g)
			for k, x := range g {
				x *= by * clipFactor(g, norm)
				want[k] += sign * x / draws
				variance[k] += x * x / (draws * draws)
			}
		}
	}
	far := 0.0
	for k := range want {
		// the simulation is of 4000 records, whose clipped parts vary less than these gradients
		error := math.Sqrt(variance[k] * draws / fewestRecords)
		if math.Abs(got[k]-want[k]) > 3*error {
			t.Errorf("coordinate %d changes by %.3g, want %.3g ± %.2g", k, got[k], want[k], error)
		}
		far = math.Max(far, math.Abs(want[k])/error)
	}
	if far < 6 {
		t.Errorf("no coordinate changes by more than %.2g errors: the test shows nothing", far)
	}
	other := modelstest.Compile(t, "other.yaml", strings.Replace(modelstest.Residuals, "family: normal", "family: skew_normal", 1))
	if x := (simulation{model: other}).ofUnlikeErrors(theta, nil, records); x != nil {
		t.Errorf("a skew normal response has other errors: %v", x)
	}
}
