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
	"d3p/internal/models/law"
	"d3p/internal/models/modelstest"
)

// A precise measurement overrules a declaration, a vague one does not; a law that was
// bought is believed, but for a measurement that is as far off as chance never is.
func TestLogFactor(t *testing.T) {
	for _, c := range []struct{ measured, v, wrong, mean, sd, tolerance float64 }{
		{0.16, 1e-4, shareWrong, math.Log(0.16), 0.06, 0.02}, // sd is √v/measured
		{4, 0.01, shareWrong, math.Log(4), 0.025, 0.02},
		{1, 100, 0, 0, spreadRight, 0.01},
		{0.8, 0.09, 0, -0.02, 0.095, 0.01}, // (1/0.01 + 1/0.09)⁻¹ = 0.009, times −0.2/0.09
		{1, 1e6, shareWrong, 0, math.Sqrt(0.85*0.01 + 0.15), 0.01},
	} {
		mean, variance := logFactor(c.measured, c.v, c.wrong, spreadRight)
		if math.Abs(mean-c.mean) > c.tolerance || math.Abs(math.Sqrt(variance)-c.sd) > c.tolerance {
			t.Errorf("%g ± %g, wrong %g: log factor %.3f ± %.3f, want %.3f ± %.3f",
				c.measured, math.Sqrt(c.v), c.wrong, mean, math.Sqrt(variance), c.mean, c.sd)
		}
	}
}

// Columns that are spread otherwise than declared change the moments as the factors do:
// those of a coefficient b of records with a column half as wide are those with the
// factor ¼. What is unknown of a factor is variance, in proportion to that of b.
func TestScaledMoments(t *testing.T) {
	m := modelstest.Compile(t, "straight.yaml", straight)
	s := simulation{model: m, law: m.DeclaredLaw(), seed: 5}
	truth := []float64{0.4, -0.8}
	x := s.momentsAt(at(truth), effects{}, unclippedPlaces(truth), 500, slopeRecords)
	slope, variance := mat.DenseCopyOf(x.slope), x.variance.At(1, 1)
	mean := slices.Clone(x.mean)
	covariance := mat.NewSymDense(2, []float64{1, 0, 0, 0.01})
	x.scale(slopeFactors{[]float64{0, math.Log(0.25)}, []float64{0, 0.5}}, covariance)
	narrow := slope.At(1, 1) / 4
	for _, c := range []struct{ got, want float64 }{
		{x.slope.At(0, 0), slope.At(0, 0)}, {x.slope.At(0, 1), slope.At(0, 1) / 2}, {x.slope.At(1, 1), narrow},
		{x.mean[0], mean[0]}, {x.mean[1], mean[1] / 2},
		{x.variance.At(1, 1), variance/4 + 0.5*narrow*narrow*0.01},
	} {
		if math.Abs(c.got-c.want) > 1e-9*math.Abs(c.want) {
			t.Errorf("%g, want %g", c.got, c.want)
		}
	}
}

// A column without a scale is as wide as its bounds by guess only; a bought law is right.
func TestWrongShare(t *testing.T) {
	unscaled := modelstest.Compile(t, "wide.yaml", wide)
	scaled := modelstest.Compile(t, "scaled.yaml", strings.Replace(wide, "upper: 100}", "upper: 100, scale: {center: 3, by: 2}}", 1))
	levels := modelstest.Compile(t, "levels.yaml", strings.Replace(wide, "a * x + g", "g", 1))
	bought := *unscaled.DeclaredLaw()
	bought.Columns = slices.Clone(bought.Columns)
	bought.Columns[0].Shares = []float64{1}
	for _, c := range []struct {
		name string
		m    *models.Model
		l    *law.Law
		want float64
	}{
		{"a scale left to the bounds", unscaled, unscaled.DeclaredLaw(), boundsNarrow},
		{"scales", scaled, scaled.DeclaredLaw(), shareNarrow},
		{"levels alone", levels, levels.DeclaredLaw(), 0},
		{"a bought law", unscaled, &bought, 0},
	} {
		if got := wrongShare(c.m, c.l); got != c.want {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

// A fit that stays near its start under a wide prior, or whose measured curvature is small, leaves
// the prior's variance; one that went as far as the prior, or a measured curvature, does not. Of a
// column whose records may be at a bound nothing tells more than the prior.
func TestUnresolved(t *testing.T) {
	const information, noise, gain, variance = 60, 700, 0.03, 0.2
	for _, x := range []struct {
		name                         string
		sd, place, measured, of      float64 // of the prior, of the fit, and of the ratio
		constant, wrong, least, most float64
		byBounds                     bool
	}{
		{"near the start under a wide prior", 50, 0.3, 1, 100, 0, shareNarrow, 1200, 2500, false},
		{"as far as a prior goes", 1, 1.5, 1, 100, 0, shareNarrow, 0.2, 0.25, false},
		{"a scale left to bounds", 1, 0.3, 1, 100, 0, boundsNarrow, 0.5, 0.9, false},
		{"a measured curvature", 50, 0.3, 1, 0.1, 0, boundsNarrow, 0.2, 0.3, false},
		{"a measured flatness", 5, 0.3, 0, 0.05, 0, shareNarrow, 15, 25, false},
		{"an intercept", 50, 0.3, 1, 100, information, shareNarrow, 0.2, 0.2, false},
		{"a bought law", 50, 0.3, 1, 100, 0, 0, 0.2, 0.2, false},
		{"a measured curvature of a column between bounds", 50, 0.3, 1, 0.1, 0, boundsNarrow, 2200, 2500, true},
	} {
		c := curvatureOf(1, []int{1})
		c.Totals[0], c.Totals[1], c.Square[0] = 1, noise, 1
		c.Likelihood[0], c.Noise[0] = x.measured*information, math.Pow(x.of*information, 2)
		c.Gain[0], c.averaging = gain, 1
		c.expected, c.constant, c.wrong, c.byBounds = []float64{information}, []float64{x.constant}, x.wrong, []bool{x.byBounds}
		lambda := 1 / (x.sd * x.sd)
		c.PriorSlope[0] = -x.place * lambda
		if got := c.unresolved(0, lambda, variance); !(got >= x.least && got <= x.most) {
			t.Errorf("%s: variance %g, want %g to %g", x.name, got, x.least, x.most)
		}
	}
}

// A level is as uncertain as the coefficients of columns whose centers nothing says; a declared
// scale says it. Cutpoints move against a level.
func TestUnknownCentersWidenLevels(t *testing.T) {
	ordinal := strings.NewReplacer(`{type: binary, levels: ["0", "1"]}`, "{type: ordinal, levels: [0, 1, 2]}", "bernoulli", "cumulative", "    Intercept: normal(0, 1)\n", "").Replace(surely)
	bounds := func(file string) string {
		return strings.Replace(file, "upper: 5, scale: {center: 0, by: 1}}", "upper: 5}", 1)
	}
	for _, c := range []struct {
		name, file, level string
		want              float64 // of the level; 0: no center is unknown
	}{
		{"bounds", bounds(surely), "Intercept", 1}, {"scales", surely, "", 0}, {"cutpoints", bounds(ordinal), "thresholds", -1},
	} {
		m := modelstest.Compile(t, c.name+".yaml", c.file)
		calls := 0
		eachCenter(m, func(k int) float64 { return 100 + float64(k) }, func(variance float64, direction []float64) {
			calls++
			at := param(t, m, c.level).Offset
			if want := 100 + float64(param(t, m, "b").Offset); variance != ofCenter*want || direction[at] != c.want {
				t.Errorf("%s: variance %g, want %g, of the level %g, want %g", c.name, variance, want, direction[at], c.want)
			}
			direction[at] = 0
			if slices.ContainsFunc(direction, func(x float64) bool { return x != 0 }) {
				t.Errorf("%s: others move, too: %v", c.name, direction)
			}
		})
		if (calls > 0) != (c.want != 0) || calls > 1 {
			t.Errorf("%s: %d centers", c.name, calls)
		}
	}
}

// The intercept beside a column that may lie at one of its bounds has at least the variance of
// the column's coefficient, as a joint normal and as independent ones; beside a declared scale it
// has less.
func TestUnknownCentersWidenIntercepts(t *testing.T) {
	for _, sized := range []bool{true, false} {
		file := surely
		if !sized {
			file = strings.ReplaceAll(file, "upper: 5, scale: {center: 0, by: 1}}", "upper: 5}")
		}
		m := modelstest.Compile(t, "fitted.yaml", file)
		p, err := plan.New(m, plan.Config{Epsilon: 0.3, Table1: "none"})
		if err != nil {
			t.Fatal(err)
		}
		for _, averaged := range []bool{true, false} { // joint, independent
			r := Releases{Guide: guide.NewMeanField(m.P), Steps: p.Steps, Averaged: averaged, Gradients: NewGradientSums(m.P)}
			r.Lambda = make([]float64, 2*m.P)
			copy(r.Gradients.Totals, []float64{1, 1e4, 1, 1})
			for j := range m.P {
				r.Gradients.Square[j], r.Gradients.Noise[j], r.Gradients.Prior[j], r.Gradients.Gain[j] = 1, 1e8, 1, 0.1
			}
			got := ofReleases(t.Context(), p, r)
			sd := make([]float64, m.P)
			got.SD(sd)
			intercept, slope := sd[param(t, m, "Intercept").Offset], sd[param(t, m, "b").Offset]
			if sized == (intercept > slope) {
				t.Errorf("scales declared %v, averaged %v: sd %.3g of the intercept, %.3g of a coefficient", sized, averaged, intercept, slope)
			}
		}
	}
}
