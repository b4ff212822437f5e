package posterior

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/modelstest"
)

// noReleases are the means of a fit that released no gradients and ended at their places.
func noReleases(n int) releasedMeans {
	return releasedMeans{mat.NewVecDense(n, nil), mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)}
}

// endedAt is a widening of a fit that ended at distances from the mean of a normal prior with
// precisions lambda, where the released gradient was g.
func endedAt(distance, lambda, g []float64, noise float64) widening {
	n := len(distance)
	w := widening{prior: mat.NewSymDense(n, nil), releasedMeans: noReleases(n), noise: noise}
	for i, d := range distance {
		w.free, w.ratio = append(w.free, i), append(w.ratio, 1)
		w.prior.SetSym(i, i, lambda[i])
		w.ofPrior.SetVec(i, -lambda[i]*d)
		w.ofLikelihood.SetVec(i, g[i])
	}
	return w
}

// Along a direction about which records say nothing the step leads to the prior's mean, along
// one that they determine it leads nowhere, and in between as far as for one number: the
// likelihood's mode, distance + g/h, counts with the precision h²/(h + v̄).
func TestStepToPosteriorMean(t *testing.T) {
	const noise, lambda, distance = 25.0, 5.0, 4.0
	for _, h := range []float64{0, 3, 40, 1e6} {
		w := endedAt([]float64{distance, 0}, []float64{lambda, 1}, []float64{lambda * distance, 0}, noise)
		step := w.toPosteriorMean(mat.NewSymDense(2, []float64{h, 0, 0, 100}))
		want := -distance
		if h > 0 {
			k := h * h / (h + noise)
			mode := distance + lambda*distance/h
			want = k*mode/(k+lambda) - distance
		}
		if got := step.AtVec(0); math.Abs(got-want) > 1e-9 || step.AtVec(1) != 0 {
			t.Errorf("information %g: step %g, %g, want %g, 0", h, got, step.AtVec(1), want)
		}
	}
}

// Of a step of three and one of half a standard deviation, along axes that are not the
// coordinates', two standard deviations of the first are left.
func TestMisplaced(t *testing.T) {
	const root = math.Sqrt2 / 2
	covariance := mat.NewSymDense(2, []float64{5, 4, 4, 5}) // sd 3 along (1, 1), 1 along (1, -1)
	step := mat.NewVecDense(2, []float64{root * (9 + 0.5), root * (9 - 0.5)})
	got := misplaced(step, covariance)
	for i := range 2 {
		if want := root * 6; math.Abs(got.AtVec(i)-want) > 1e-9 {
			t.Errorf("entry %d is %g, want %g", i, got.AtVec(i), want)
		}
	}
}

// The evidence is the density of the released gradient, by quadrature over the truth.
func TestLogEvidence(t *testing.T) {
	const noise, lambda, distance, g = 9.0, 2.0, 1.5, 4.0
	density := func(h float64) float64 { // the prior's mean is 0, the fit ended at distance
		sum, variance := 0.0, h+noise
		for x := -8.0; x < 8; x += 0.001 {
			off := g + h*(distance-x)
			sum += 0.001 * math.Exp(-lambda*x*x/2-off*off/(2*variance)) / math.Sqrt(variance)
		}
		return math.Log(sum)
	}
	evidence := func(h float64) float64 {
		return endedAt([]float64{distance}, []float64{lambda}, []float64{g}, noise).logEvidence(mat.NewSymDense(1, []float64{h}))
	}
	for _, h := range []float64{0.1, 2, 30} {
		if got, want := evidence(h)-evidence(1), density(h)-density(1); math.Abs(got-want) > 1e-6 {
			t.Errorf("information %g: log evidence %g, want %g", h, got, want)
		}
	}
}

// Noise took a fit four standard deviations of the prior away. A law under which many records
// inform about the direction would have pulled it back, so it gets no weight, and the
// posterior is within one standard deviation of the prior. Where laws count alike, what their
// steps differ by widens.
func TestLawsCountByEvidence(t *testing.T) {
	w := endedAt([]float64{4}, []float64{1}, []float64{4}, 25)
	few, many := mat.NewSymDense(1, []float64{0.01}), mat.NewSymDense(1, []float64{500})
	whole := combined([]*underLaw{w.under(known(many)), nil, w.under(known(few))})
	if step, sd := whole.step.AtVec(0), math.Sqrt(whole.total.At(0, 0)); math.Abs(step+3) > 0.05 || math.Abs(sd-1) > 0.05 {
		t.Errorf("step %.3f, standard deviation %.3f, want -3, 1", step, sd)
	}
	one, other := w.under(known(many)), w.under(known(few))
	one.logEvidence = other.logEvidence
	spread := math.Pow(other.step.AtVec(0)-one.step.AtVec(0), 2) / 4
	want := (one.total.At(0, 0)+other.total.At(0, 0))/2 + spread
	if got := combined([]*underLaw{one, other}).total.At(0, 0); math.Abs(got-want) > 1e-9 {
		t.Errorf("variance %g of laws that count alike, want %g", got, want)
	}
}

// The mean of a regression moves, of many coefficients it stays, and so do the weights of a
// network: the information about one of them depends on the others.
func TestMovesBesideLinearPredictors(t *testing.T) {
	network := strings.Replace(twoColumns, "normal(a * x + b * z, 1)", "normal(a * tanh(b * x + z), 1)", 1)
	formula := twoColumns[:strings.Index(twoColumns, "core:")] + "model:\n  formula: y ~ x + z\n  family: normal\n"
	for name, c := range map[string]struct {
		text string
		want bool
	}{"core": {twoColumns, true}, "formula": {formula, true}, "network": {network, false}} {
		j := &jointNormal{simulation: simulation{model: modelstest.Compile(t, name+".yaml", c.text)}}
		if j.moves(realValued(j.model)) != c.want || j.moves(make([]int, mostMoved+1)) {
			t.Errorf("%s: moves %t, or with too many parameters", name, !c.want)
		}
	}
}

// known are informations of which nothing is uncertain.
func known(h *mat.SymDense) informations { return informations{h, h, h, h} }
