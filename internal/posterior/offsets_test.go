package posterior

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/models/law"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/noise"
)

// settledAt is the end of a fit of the cohort whose effects share the offset by, which the
// intercept takes back, with the scale factor times as large. The likelihood of all these ends is
// the same, and the effects are known nearly without error.
func settledAt(t *testing.T, by, factor float64) (m *models.Model, j *jointNormal, post *Posterior, end []float64, scales []scaleEstimate, null *mat.Dense) {
	t.Helper()
	m, theta, _ := cohort(t)
	intercept, sd, z := param(t, m, "Intercept").Offset, param(t, m, "sd_hospital").Offset, param(t, m, "z_hospital")
	end = slices.Clone(theta)
	const of = 0.4
	end[intercept], end[sd] = 0.3-by, math.Log(of*factor)
	effects := make([]float64, z.Size)
	noise.Insecure(4).Stream(noise.Initialisation).Normals(effects)
	for i, x := range effects {
		end[z.Offset+i] = (of*x + by) / (of * factor)
	}
	c := curvatureOf(m.P, nil)
	c.Totals[0], c.Totals[1] = 1, 1e-12
	h, v := make([]float64, m.P), make([]float64, m.P)
	for k := range m.P {
		h[k], v[k], c.floor[k], c.Place[k], c.Square[k], c.Likelihood[k], c.Noise[k] = 1e6*factor*factor, 1, 1, end[k], 1, 1e6*factor*factor, 1e-6
	}
	post = &Posterior{Mean: slices.Clone(end), LogSD: make([]float64, m.P), VarDP: make([]float64, m.P)}
	j = &jointNormal{simulation: simulation{model: m, law: m.DeclaredLaw(), seed: 5}, curvature: c, prior: m.NewPriorDensity(), releases: Releases{Guide: guide.NewMeanField(m.P)}}
	j.scores = newScores(m, end, j.law, j.random())
	_, scales, _, null = j.settle(post, realValued(m), h, v)
	return m, j, post, end, scales, null
}

// The offset that effects share is no evidence of a large scale: wherever a fit ends among places
// with the same likelihood, it settles at one place, with one uncertainty of the scale.
func TestOffsetIsNoScale(t *testing.T) {
	m, _, want, _, scales, _ := settledAt(t, 0, 1)
	if len(scales) != 1 {
		t.Fatalf("%d scales", len(scales))
	}
	for _, fit := range [][2]float64{{1.5, 1}, {-1.5, 2.5}, {0, 0.4}} {
		_, _, got, _, other, _ := settledAt(t, fit[0], fit[1])
		for _, p := range []string{"Intercept", "sd_hospital", "z_hospital", "b"} {
			for k := param(t, m, p).Offset; k < param(t, m, p).Offset+param(t, m, p).Size; k++ {
				if math.Abs(got.Mean[k]-want.Mean[k]) > 0.01 {
					t.Errorf("offset %g, scale %g: %s %.4f, want %.4f", fit[0], fit[1], p, got.Mean[k], want.Mean[k])
				}
			}
		}
		if math.Abs(other[0].total/scales[0].total-1) > 0.01 || math.Abs(other[0].exact/scales[0].exact-1) > 0.01 {
			t.Errorf("offset %g, scale %g: variances of log sd %g and %g, want %g and %g", fit[0], fit[1], other[0].total, other[0].exact, scales[0].total, scales[0].exact)
		}
	}
}

// The posterior of log sd is that of restricted maximum likelihood. J effects known exactly, with
// an offset that the prior leaves free, are J − 1 degrees of freedom ν: log sd has the mean
// (log(Σ(ζ − ζ̄)²/2) − ψ(ν/2))/2 and the variance ψ'(ν/2)/4.
func TestVarianceBesideAnOffset(t *testing.T) {
	const effects = 11
	zeta, k := make([]float64, effects), slices.Repeat([]float64{1e6}, effects)
	noise.Insecure(4).Stream(noise.Initialisation).Normals(zeta)
	o := offsets{effects: mat.NewDense(effects, 1, slices.Repeat([]float64{1}, effects)), spread: mat.NewSymDense(1, []float64{1e6}), mean: mat.NewVecDense(1, nil)}
	mean, square := 0.0, 0.0
	for _, z := range zeta {
		mean += z / effects
	}
	for _, z := range zeta {
		square += (z - mean) * (z - mean)
	}
	const half = (effects - 1) / 2.0
	want := (math.Log(square/2) - mathext.Digamma(half)) / 2
	ofLog := (mathext.Digamma(half+1e-4) - mathext.Digamma(half-1e-4)) / 2e-4 / 4
	logSD := func() (mean, variance float64) {
		x := o.rotate(zeta, k)
		return integrate(func(t float64) float64 { return logMarginal(t, x.value, x.known) })
	}
	t0, variance := logSD()
	if math.Abs(t0-want) > 1e-3 {
		t.Errorf("log sd %.4f, want %.4f", t0, want)
	}
	_, expected := integrate(func(u float64) float64 { return expectedMarginal(u, t0, o.rotate(zeta, k).known) })
	for name, got := range map[string]float64{"of these effects": variance, "expected": expected} {
		if math.Abs(got/ofLog-1) > 0.01 {
			t.Errorf("variance %s %.5f, want %.5f", name, got, ofLog)
		}
	}
	for i := range zeta {
		zeta[i] += 3
	}
	if moved, _ := logSD(); math.Abs(moved-t0) > 1e-4 {
		t.Errorf("effects moved by 3 make log sd %.4f, want %.4f", moved, t0)
	}
}

// Noise that pushes all effects alike is no reason to move an intercept that has gradients of its
// own, nor is a prior far from it, although it is not known which effects make up for that.
func TestLevelStaysUnderNoise(t *testing.T) {
	m, j, _, end, _, _ := settledAt(t, 0, 1)
	intercept, sd, z := param(t, m, "Intercept").Offset, param(t, m, "sd_hospital").Offset, param(t, m, "z_hospital")
	end[intercept] = -4
	j.curvature.Place[intercept] = -4
	level := func(theta []float64) float64 {
		sum := theta[intercept]
		for k := z.Offset; k < z.Offset+z.Size; k++ {
			sum += math.Exp(theta[sd]) * theta[k] / float64(z.Size)
		}
		return sum
	}
	for _, noise := range []float64{900, 1e5} {
		h, v := make([]float64, m.P), make([]float64, m.P)
		for k := range m.P {
			h[k], v[k] = 100, 1
		}
		for k := z.Offset; k < z.Offset+z.Size; k++ {
			j.curvature.LikelihoodSlope[k] = 0.5 * h[k]
		}
		post := &Posterior{Mean: slices.Clone(end), LogSD: make([]float64, m.P), VarDP: make([]float64, m.P)}
		j.curvature.Totals[1] = noise
		j.settle(post, realValued(m), h, v)
		if got, want := level(post.Mean), level(end); math.Abs(got-want) > 0.02 {
			t.Errorf("noise %g: the level is %.3f, want %.3f", noise, got, want)
		}
	}
}

// Gradients are clipped where the fit released them, whatever place it is settled at: the way back
// ends there. The step to the posterior's mean starts there, too.
func TestFittedAs(t *testing.T) {
	m, j, post, end, scales, null := settledAt(t, -1.5, 2.5)
	free := realValued(m)
	f := fittedAs(post.Mean, end, scales, free, null)
	for k, x := range f.place {
		if math.Abs(x-end[k]) > 0.01 {
			t.Errorf("coordinate %d: %.4f, want %.4f", k, x, end[k])
		}
	}
	z := param(t, m, "z_hospital").Offset
	if want := math.Exp(post.Mean[scales[0].at] - end[scales[0].at]); math.Abs(f.unit[z]-want) > 1e-9 || f.unit[param(t, m, "b").Offset] != 1 {
		t.Errorf("units %g and %g, want %g and 1", f.unit[z], f.unit[param(t, m, "b").Offset], want)
	}
	j.prior.Gradient(j.curvature.PriorSlope, end)
	means := j.releasedMeans(end, post.Mean, free, []scale{scales[0].scale})
	there := make([]float64, m.P)
	j.prior.Gradient(there, post.Mean)
	at := slices.Index(free, param(t, m, "Intercept").Offset)
	if got := means.ofPrior.AtVec(at); math.Abs(means.place.AtVec(at)) > 1e-9 || math.Abs(got-there[free[at]]) > 1e-9 {
		t.Errorf("the intercept is %g from the end, with the prior's slope %g, want 0 and %g", means.place.AtVec(at), got, there[free[at]])
	}
}

const byWards = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 4000}
  columns:
    beds: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}, constant_within: ward}
    ward: {type: category, levels: [a, b, c, d, e, f, g, h]}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1 + beds + (1 | ward)
  family: bernoulli
`

// The effects of wards move against the intercept, and against the slope of a number that each has
// only one of: but there only if it is known which one.
func TestOffsetsOfKnownGroups(t *testing.T) {
	m := modelstest.Compile(t, "wards.yaml", byWards)
	theta := make([]float64, m.P)
	m.NewPriorSampler().Draw(theta, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
	for _, sd := range []float64{math.Inf(1), 0.5, 0.1} {
		l := m.DeclaredLaw().Copy()
		if !math.IsInf(sd, 1) {
			l.Groups = []law.Within{{Column: 0, Category: 1, Mean: []float64{1.2, -1, 0.8, -0.6, 0.4, -0.2, 0.1, -1.5}, SD: slices.Repeat([]float64{sd}, 8)}}
		}
		j := &jointNormal{simulation: simulation{model: m, law: l, seed: 5}}
		free := realValued(m)
		null := newScores(m, theta, l, j.random()).of(free).null()
		got := j.certain(null, free)
		_, all := null.Dims()
		_, left := got.Dims()
		slope := got.RowView(slices.Index(free, param(t, m, "b").Offset))
		if want := map[bool]int{true: 2, false: 1}[sd < 0.3]; all != 2 || left != want || want == 1 && math.Abs(slope.AtVec(0)) > 1e-8 {
			t.Errorf("values known to %g: %d of %d directions, want %d of 2; the slope moves by %v", sd, left, all, want, slope)
		}
	}
}

// Effects of groups without a record, whatever noise says of them, tell nothing about the scale of the others.
// Three of 40 such groups took a standard deviation of .8 to 2 to 300 times its size.
func TestEffectsWithoutRecords(t *testing.T) {
	const effects, empty = 12, 3
	zeta, known := make([]float64, effects+empty), slices.Repeat([]float64{100}, effects+empty)
	noise.Insecure(4).Stream(noise.Initialisation).Normals(zeta[:effects])
	for j := effects; j < effects+empty; j++ {
		zeta[j], known[j] = 2e7, 4e-15
	}
	of := func(n int) (mean, variance float64) {
		o := offsets{effects: mat.NewDense(n, 1, slices.Repeat([]float64{1}, n)), spread: mat.NewSymDense(1, []float64{100}), mean: mat.NewVecDense(1, nil)}
		turned := o.rotate(zeta[:n], known[:n])
		return integrate(func(t float64) float64 { return -t*t/2 + logMarginal(t, turned.value, turned.known) })
	}
	want, wantVariance := of(effects)
	if got, variance := of(effects + empty); math.Abs(got-want) > 0.01 || math.Abs(variance/wantVariance-1) > 0.01 {
		t.Errorf("log sd %.3f with variance %.4f, want %.3f with %.4f", got, variance, want, wantVariance)
	}
}

// The offsets of a scale have no direction in which only the effects of another one move, though a basis
// of all directions mixes them: such a column would be zeros but for rounding, and its inverse anything.
// Of (1 + x || g) one private fit in ten had an intercept 60 standard deviations off.
func TestOffsetsOfTwoScales(t *testing.T) {
	m := modelstest.Compile(t, "wards.yaml", strings.NewReplacer("(1 | ward)", "(1 + beds || ward)", "within: ward", "within: none").Replace(byWards))
	theta := make([]float64, m.P)
	m.NewPriorSampler().Draw(theta, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
	free, q := realValued(m), newScores(m, theta, m.DeclaredLaw(), noise.NewRandom(noise.Public(5).Stream(noise.Simulation)))
	null, scales := q.of(free).null(), findScales(m, q, theta)
	post := &Posterior{Mean: theta, LogSD: make([]float64, m.P), VarDP: make([]float64, m.P)}
	shared := map[int]string{param(t, m, "sd_ward").Offset: "Intercept", param(t, m, "sd_ward").Offset + 1: "b"}
	if _, all := null.Dims(); all != 2 || len(scales) != 2 {
		t.Fatalf("%d directions, %d scales", all, len(scales))
	}
	for _, s := range scales {
		o := offsetsOf(s, post, m.NewPriorDensity(), free, null)
		_, k := o.effects.Dims()
		if k != 1 {
			t.Fatalf("scale %d: %d directions, want 1", s.at, k)
		}
		for i, other := range o.others {
			want := -o.effects.At(0, 0) * math.Exp(theta[s.at])
			if other != param(t, m, shared[s.at]).Offset {
				want = 0
			}
			if got := o.moves.At(i, 0); math.Abs(got-want) > 1e-6*math.Abs(o.effects.At(0, 0)) {
				t.Errorf("scale %d: coordinate %d moves by %g, want %g", s.at, other, got, want)
			}
		}
	}
}

// Draws are compared with the settled end of a fit: from any end with the same likelihood they have
// strayed as far.
func TestSearchStartsSettled(t *testing.T) {
	p, err := plan.New(modelstest.Compile(t, "wards.yaml", byWards), plan.Config{Epsilon: 1, Table1: "none"})
	if err != nil {
		t.Fatal(err)
	}
	m := p.Model()
	intercept, z := param(t, m, "Intercept").Offset, param(t, m, "z_ward")
	start := func(by float64) []float64 {
		end := make([]float64, m.P)
		end[intercept] = 0.3 - by
		for k := range z.Size {
			end[z.Offset+k] = by + float64(k%4) - 1.5
		}
		return newSearch(p, releasedAt(end, p.Steps), p.Law(), 5).start
	}
	want := start(0)
	for k, x := range start(2) {
		if math.Abs(x-want[k]) > 0.05 {
			t.Errorf("coordinate %d of a fit whose effects share 2: %.3f, want %.3f", k, x, want[k])
		}
	}
}

// releasedAt is what a fit released that ended there, with little noise.
func releasedAt(end []float64, steps int) Releases {
	r := Releases{Guide: guide.NewMeanField(len(end)), Steps: steps, Averaged: true, Gradients: NewGradientSums(len(end))}
	r.Lambda = append(slices.Clone(end), slices.Repeat([]float64{math.Log(0.05)}, len(end))...)
	copy(r.Gradients.Totals, []float64{1, 1e-6, 5, 25})
	copy(r.Gradients.Place, end)
	for k := range end {
		r.Gradients.Square[k], r.Gradients.Likelihood[k], r.Gradients.Noise[k] = 1, 500, 1
	}
	return r
}

// Correlations of effects have their prior in a joint normal, whatever the guide has of them.
func TestCorrelationsAreForgotten(t *testing.T) {
	m := modelstest.Compile(t, "wards.yaml", strings.NewReplacer("(1 | ward)", "(1 + beds | ward)", "within: ward", "within: none").Replace(byWards))
	p, err := plan.New(m, plan.Config{Epsilon: 1, Table1: "none"})
	if err != nil {
		t.Fatal(err)
	}
	at := param(t, p.Model(), "L_ward").Offset
	end := make([]float64, p.Latent)
	for k := range end {
		end[k] = math.Cos(float64(k))
	}
	end[at] = 0.9
	post := jointOrGuide(p, releasedAt(end, p.Steps))
	sd := make([]float64, p.Latent)
	if post.SD(sd); post.Independent(0, 2) {
		t.Fatal("the posterior is no joint normal")
	}
	if post.Mean[at] != 0 || math.Abs(sd[at]-0.568) > 0.03 { // tanh u is 2 beta(2, 2) - 1, so u has the variance of a logit over 4
		t.Errorf("the correlation's coordinate is %.3f ± %.3f, want its prior's 0 ± .57", post.Mean[at], sd[at])
	}
}

// Offsets far beyond the prior are left where the fit ended.
func TestSettlesWithinThePrior(t *testing.T) {
	o := offsets{
		effects: mat.NewDense(2, 1, []float64{1, 1}), others: []int{0}, moves: mat.NewDense(1, 1, []float64{1}),
		spread: mat.NewSymDense(1, []float64{1}), mean: mat.NewVecDense(1, nil),
	}
	for _, c := range []struct{ effect, want float64 }{{0.5, -1}, {-1.5, 3}, {3, 0}, {-30, 0}, {math.NaN(), 0}} {
		mean := []float64{0}
		o.settle(mean, []float64{c.effect, c.effect}, 0, []float64{1})
		if mean[0] != c.want {
			t.Errorf("effects of %g move an intercept with a prior of sd 1 to %g, want %g", c.effect, mean[0], c.want)
		}
	}
}
