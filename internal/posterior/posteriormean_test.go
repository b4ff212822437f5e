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
	got := beyondOneSD(step, covariance)
	for i := range 2 {
		if want := root * 6; math.Abs(got.AtVec(i)-want) > 1e-9 {
			t.Errorf("entry %d is %g, want %g", i, got.AtVec(i), want)
		}
	}
}

// Laws count alike, and what their steps differ by widens. Those that could not be computed do not
// count.
func TestLawsCountAlike(t *testing.T) {
	w := endedAt([]float64{4}, []float64{1}, []float64{4}, 25)
	few, many := mat.NewSymDense(1, []float64{0.01}), mat.NewSymDense(1, []float64{500})
	one, other := w.posteriorUnder(known(many)), w.posteriorUnder(known(few))
	spread := math.Pow(other.step.AtVec(0)-one.step.AtVec(0), 2) / 4
	want := (one.total.At(0, 0)+other.total.At(0, 0))/2 + spread
	got := combined([]*underLaw{one, nil, other})
	if math.Abs(got.total.At(0, 0)-want) > 1e-9 || !(spread > 1) {
		t.Errorf("variance %g of laws that count alike, want %g", got.total.At(0, 0), want)
	}
	if want := (one.step.AtVec(0) + other.step.AtVec(0)) / 2; math.Abs(got.step.AtVec(0)-want) > 1e-9 {
		t.Errorf("step %g of laws that count alike, want %g", got.step.AtVec(0), want)
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
		if j.mayMove(realValued(j.model)) != c.want || j.mayMove(make([]int, mostMoved+1)) {
			t.Errorf("%s: moves %t, or with too many parameters", name, !c.want)
		}
	}
}

// known are informations of which nothing is uncertain.
func known(h *mat.SymDense) informations { return informations{h, h, h, h} }
