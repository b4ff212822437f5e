package dist

import (
	"fmt"
	"math"
	"testing"

	"d3p/internal/models/dist/continuous"
	"d3p/internal/models/dist/counts"
	"d3p/internal/models/dist/family"
	"d3p/internal/models/dist/multivariate"
	"d3p/internal/models/dist/survival"
	"d3p/internal/models/graph"
	"d3p/internal/models/graph/graphtest"
	"d3p/internal/models/support"
	"d3p/internal/stattest"
)

// combined are combinations of densities with constant arguments, and the
// shape of their value. NaN in a draw says missing.
func combined(b *graph.Builder) []struct {
	name    string
	density Density
	shape   graph.Shape
} {
	k, d := graph.Dim{Name: "k", Size: 3}, graph.Dim{Name: "d", Size: 2}
	apply := func(f *Distribution, args ...*graph.Node) Applied { return Apply(b, f, args) }
	num := b.Const
	vec := func(v ...float64) *graph.Node { return b.Consts(graph.Shape{k}, v) }
	weights := vec(0.2, 0.5, 0.3)
	normals := apply(&continuous.Normal, vec(-3, 0, 4), vec(0.5, 1, 2))
	pairs := apply(&continuous.Normal, b.Consts(graph.Shape{k, d}, []float64{-2, 1, 0, -1, 3, 3}), b.Consts(graph.Shape{d}, []float64{0.5, 1}))
	// The weights differ for the two elements of d: two mixtures, not one.
	each := b.Consts(graph.Shape{d, k}, []float64{0.2, 0.5, 0.3, 0.7, 0.2, 0.1})
	return []struct {
		name    string
		density Density
		shape   graph.Shape
	}{
		{"mixture", Mixture{weights, normals, "k"}, nil},
		{"mixture of vectors", Mixture{weights, pairs, "k"}, graph.Shape{d}},
		{"mixture by element", Mixture{each, normals, "k"}, graph.Shape{d}},
		{"mixture of gammas", Mixture{weights, apply(&continuous.Gamma, vec(1, 2, 9), num(1)), "k"}, nil},
		{"truncated on both sides", Truncated{Base: apply(&continuous.Normal, num(1), num(2)), Lower: num(-1), Upper: num(2.5)}, nil},
		{"truncated below", Truncated{Base: apply(&continuous.Normal, num(0), num(1)), Lower: num(1.5)}, nil},
		{"truncated above", Truncated{Base: apply(&continuous.Cauchy, num(0), num(1)), Upper: num(0.5)}, nil},
		{"truncated at 0", Truncated{Base: apply(&continuous.Normal, num(1), num(1)), Lower: num(0)}, nil},
		{"truncated positive", Truncated{Base: apply(&survival.Weibull, num(1.5), num(2), nil), Lower: num(0.5), Upper: num(6)}, nil},
		{"truncated student", Truncated{Base: apply(&continuous.StudentT, num(4), num(1), num(2)), Lower: num(-1), Upper: num(6)}, nil},
		{"truncated gamma", Truncated{Base: apply(&continuous.Gamma, num(2.5), num(0.7)), Lower: num(1), Upper: num(9)}, nil},
		{"truncated log-normal", Truncated{Base: apply(&continuous.LogNormal, num(0.5), num(0.7)), Lower: num(1), Upper: num(9)}, nil},
		{"truncated exponential", Truncated{Base: apply(&continuous.Exponential, num(0.7)), Lower: num(1), Upper: num(4)}, nil},
		{"truncated beta", Truncated{Base: apply(&continuous.Beta, num(2), num(5), nil, nil), Lower: num(0.1), Upper: num(0.6)}, nil},
		{"truncated mixture part", Mixture{weights, Truncated{Base: apply(&continuous.Laplace, vec(-1, 0, 1), num(1)), Lower: num(-2), Upper: num(2)}, "k"}, nil},
		{"batch of dirichlets", apply(&multivariate.Dirichlet, b.Consts(graph.Shape{d, {Name: "p", Size: 2}}, []float64{2, 3, 0.5, 4})), graph.Shape{d, {Name: "p", Size: 2}}},
		{"batch of normals", apply(&continuous.Normal, b.Consts(graph.Shape{d}, []float64{-1, 5}), num(2)), graph.Shape{d}},
	}
}

// Combinations integrate to 1, have the mean that they state, and their draws
// follow them.
func TestCombinations(t *testing.T) {
	b := graph.NewBuilder()
	for _, c := range combined(b) {
		t.Run(c.name, func(t *testing.T) {
			if err := c.density.Fits(c.shape); err != nil {
				t.Fatal(err)
			}
			g := integrate(t, b, c.density, c.shape)
			if total := g.expect(func(_, _ []float64) float64 { return 1 }); !graphtest.Near(total, 1, 2e-5) {
				t.Errorf("the total probability is %.9g", total)
			}
			if mean := c.density.Mean(b); mean != nil {
				got := graphtest.Evaluate(t, b, b.Expand(mean, c.shape), []float64{0}, 1)
				for i := range got {
					if want := g.expect(func(_, x []float64) float64 { return x[i] }); !graphtest.Near(got[i], want, 2e-5) {
						t.Errorf("element %d of the mean is %.9g, the first moment %.9g", i, got[i], want)
					}
				}
			}
			var values [][]float64
			for _, n := range c.density.Inputs() {
				values = append(values, graphtest.Evaluate(t, b, n, []float64{0}, 1))
			}
			draw, rng := c.density.Sampler(c.shape), newRand(5)
			xs := make([][]float64, draws)
			for i := range xs {
				xs[i] = make([]float64, c.shape.Size())
				draw(xs[i], values, rng)
			}
			requireDensity(t, g, xs)
		})
	}
}

// A value is missing with probability p, and follows the base otherwise.
func TestMissing(t *testing.T) {
	b := graph.NewBuilder()
	base := Apply(b, &continuous.Normal, []*graph.Node{b.Const(1), b.Const(2)})
	m := Missing{P: b.Const(0.3), Base: base}
	if err := m.Fits(nil); err != nil {
		t.Fatal(err)
	}
	x := Observed{X: b.Column(0), Missing: b.Column(1)}
	got := graphtest.Evaluate(t, b, m.LogDensity(b, x), []float64{2.5, 0, 0, 1}, 2)
	present := graphtest.Evaluate(t, b, base.LogDensity(b, Observed{X: b.Column(0)}), []float64{2.5}, 1)[0]
	if !graphtest.Near(got[0], math.Log(0.7)+present, 1e-14) || !graphtest.Near(got[1], math.Log(0.3), 1e-14) {
		t.Errorf("log densities are %v, want %v", got, []float64{math.Log(0.7) + present, math.Log(0.3)})
	}
	draw, rng := m.Sampler(nil), newRand(6)
	var dst [1]float64
	var absent int
	var seen []float64
	for range draws {
		draw(dst[:], [][]float64{{0.3}, {1}, {2}}, rng)
		if math.IsNaN(dst[0]) {
			absent++
		} else {
			seen = append(seen, dst[0])
		}
	}
	stattest.Require(t, "missing", stattest.Binomial(absent, draws, 0.3))
	stattest.Require(t, "present", stattest.KolmogorovSmirnov(seen, func(x float64) float64 { return 0.5 * math.Erfc(-(x-1)/2/math.Sqrt2) }))
}

// A missing value leaves no trace of the number that stands in for it, neither
// in the density nor in the gradient, even if that number is impossible.
func TestMissingHidesTheStandIn(t *testing.T) {
	b := graph.NewBuilder()
	rate := b.Exp(b.Param("log_rate", nil))
	m := Missing{P: b.Const(0.3), Base: Apply(b, &continuous.Gamma, []*graph.Node{b.Const(2), rate})}
	loss := m.LogDensity(b, Observed{X: b.Column(0), Missing: b.Column(1)})
	tape, err := graph.Compile(b, loss, nil, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	machine := graph.NewMachine(tape, 1)
	machine.Globals([]float64{0.5}, nil)
	for _, stand := range []float64{0, -1, 1, math.Inf(1), math.NaN()} {
		machine.Records([]float64{stand, 1}, 2, 1, nil)
		var gradient [1]float64
		machine.Gradient(0, gradient[:])
		if loss := machine.Loss()[0]; loss != math.Log(0.3) || gradient[0] != 0 {
			t.Errorf("stand-in %g: log density %g, gradient %g", stand, loss, gradient[0])
		}
	}
}

// Events count by the density, other records by the survival function.
func TestCensored(t *testing.T) {
	b := graph.NewBuilder()
	base := Apply(b, &survival.Weibull, []*graph.Node{b.Const(1.5), b.Const(2), nil})
	c := Censored{Base: base, Event: b.Column(1)}
	got := graphtest.Evaluate(t, b, c.LogDensity(b, Observed{X: b.Column(0)}), []float64{3, 1, 3, 0}, 2)
	hazard := math.Pow(1.5, 1.5)
	want := []float64{math.Log(1.5/2*math.Sqrt(1.5)) - hazard, -hazard}
	for i := range want {
		if !graphtest.Near(got[i], want[i], 1e-14) {
			t.Errorf("log densities are %v, want %v", got, want)
		}
	}
}

// A truncation far in the tail keeps its digits: given that a standard normal
// exceeds 30 it exceeds 30.1 with probability Φ(-30.1)/Φ(-30) = exp(-3.00834...).
func TestTruncationInTheTail(t *testing.T) {
	b := graph.NewBuilder()
	std := Apply(b, &continuous.Normal, []*graph.Node{nil, nil})
	half := Apply(b, &continuous.HalfNormal, []*graph.Node{nil})
	for _, tail := range []Truncated{
		{Base: std, Lower: b.Const(30), Upper: b.Const(31)},
		{Base: std, Lower: b.Const(-31), Upper: b.Const(-30)},
		{Base: half, Lower: b.Const(30), Upper: b.Const(31)},
	} {
		mid := 0.5 * (bound(tail.Lower, 0) + bound(tail.Upper, 0))
		got := graphtest.Evaluate(t, b, tail.LogDensity(b, Observed{X: b.Const(mid)}), []float64{0}, 1)[0]
		// The mass is φ(30)/30 (1 - 1/30² + 3/30⁴ - 15/30⁶) up to 1e-8, all but
		// exp(-30.5) of it within one unit.
		mass := math.Log(1./30*(1-1./900+3./810000-15./729000000)) - math.Exp(-30.5)
		if want := -0.5*30.5*30.5 + 0.5*900 - mass; !graphtest.Near(got, want, 1e-9) {
			t.Errorf("between %v and %v: %.15g, want %.15g", bound(tail.Lower, 0), bound(tail.Upper, 0), got, want)
		}
	}
}

// An interval without mass gives NaN, not an endless loop.
func TestTruncatedSamplerGivesUp(t *testing.T) {
	b := graph.NewBuilder()
	far := Truncated{Base: Apply(b, &continuous.Normal, []*graph.Node{nil, nil}), Lower: b.Const(40), Upper: nil}
	var dst [1]float64
	far.Sampler(nil)(dst[:], [][]float64{{0}, {1}, {40}}, newRand(7))
	if !math.IsNaN(dst[0]) {
		t.Errorf("drew %g", dst[0])
	}
}

// Where a base is hardly ever above 0, a hurdle draws clusters. The counts above 0 then have
// the base's law given that they are, and take no more time for a rarer base.
func TestHurdlesOfRareCounts(t *testing.T) {
	rng := newRand(11)
	never := []float64{0}
	for _, c := range []struct {
		name string
		args [][]float64
		d    *Distribution
		base func(k float64) float64 // the log of the base's density, up to a constant
	}{
		{"poisson", [][]float64{never, nil, {0.7}, nil}, &counts.HurdlePoisson, func(k float64) float64 {
			return k*math.Log(0.7) - lgamma(k+1)
		}},
		{"negative binomial", [][]float64{never, nil, {0.9}, {0.4}, nil}, &counts.HurdleNegativeBinomial, func(k float64) float64 {
			return lgamma(k+0.4) - lgamma(k+1) + k*math.Log(0.9/1.3)
		}},
	} {
		expected, total := make([]float64, 40), 0.0
		for k := range expected {
			expected[k] = math.Exp(c.base(float64(k + 1)))
			total += expected[k]
		}
		observed, seen := make([]int, len(expected)), draws
		for k := range expected {
			expected[k] *= draws / total
		}
		for range draws {
			var dst [1]float64
			c.d.Sample(dst[:], c.args, rng)
			if k := int(dst[0]); k >= 1 && k <= len(observed) {
				observed[k-1]++
			} else {
				seen--
			}
		}
		if seen < draws-2 { // the base has less than 1e-6 beyond 40
			t.Errorf("%s: %d of %d draws are from 1 to %d", c.name, seen, draws, len(observed))
		}
		stattest.Require(t, c.name, stattest.ChiSquare(observed, expected))
	}
	var dst [1]float64
	if counts.HurdlePoisson.Sample(dst[:], [][]float64{never, nil, {1e-300}, nil}, rng); dst[0] != 1 {
		t.Errorf("drew %g above 0 at rate 1e-300", dst[0])
	}
}

func lgamma(x float64) float64 {
	y, _ := math.Lgamma(x)
	return y
}

// Large counts come from the recursions of Ahrens and Dieter.
func TestLargeCounts(t *testing.T) {
	rng := newRand(8)
	for _, c := range []struct {
		name       string
		mean, vari float64
		draw       func() float64
	}{
		{"poisson 1e6", 1e6, 1e6, func() float64 { return family.DrawPoisson(1e6, rng) }},
		{"poisson 16", 16, 16, func() float64 { return family.DrawPoisson(16, rng) }},
		{"binomial 1e6", 3e5, 2.1e5, func() float64 { return family.DrawBinomial(1e6, 0.3, rng) }},
		{"gamma 0.01", 0.01, 0.01, func() float64 { return family.DrawGamma(0.01, rng) }},
	} {
		values := make([]float64, draws)
		squares := make([]float64, draws)
		for i := range values {
			values[i] = c.draw()
			squares[i] = (values[i] - c.mean) * (values[i] - c.mean)
		}
		stattest.Require(t, c.name+" mean", meanTest(values, c.mean))
		stattest.Require(t, c.name+" variance", meanTest(squares, c.vari))
	}
	if v := family.DrawPoisson(math.Inf(1), rng); !math.IsNaN(v) {
		t.Errorf("a Poisson of infinite mean is %g", v)
	}
}

func TestSupportsPrint(t *testing.T) {
	for s, want := range map[support.Support]string{
		{Kind: support.Positive}:                      "positive",
		{Kind: support.Interval, Lower: -1, Upper: 2}: "in (-1, 2)",
	} {
		if got := fmt.Sprint(s); got != want {
			t.Errorf("%v prints %q, want %q", s.Kind, got, want)
		}
	}
}

// A censored value that begins at a bound of its own has the density, or the survival,
// over the survival at the bound; one below its bound contributes nothing.
func TestDelayedEntry(t *testing.T) {
	b := graph.NewBuilder()
	d := Truncated{Base: Apply(b, &survival.Weibull, []*graph.Node{b.Const(1.5), b.Const(2), nil}), Lower: b.Column(1), Event: b.Column(2)}
	if err := d.Fits(nil); err != nil {
		t.Fatal(err)
	}
	rows := []float64{3, 1, 1, 3, 1, 0, 1, 3, 1, 3, 0, 1} // time, entry, event
	got := graphtest.Evaluate(t, b, d.LogDensity(b, Observed{X: b.Column(0)}), rows, 3)
	logS := func(x float64) float64 { return -math.Pow(x/2, 1.5) }
	logF := math.Log(1.5/2) + 0.5*math.Log(1.5) + logS(3)
	for i, want := range []float64{logF - logS(1), logS(3) - logS(1), 0, logF} {
		if !graphtest.Near(got[i], want, 1e-12) {
			t.Errorf("record %d: %.15g, want %.15g", i, got[i], want)
		}
	}
	d.Upper = b.Const(9)
	if d.Fits(nil) == nil {
		t.Error("a censored value with an upper bound is accepted")
	}
}

// A count is truncated to the values from lower to upper, both included.
func TestTruncatedCounts(t *testing.T) {
	b := graph.NewBuilder()
	base := Apply(b, &counts.Poisson, []*graph.Node{b.Const(2.5), nil})
	for _, c := range []struct {
		name         string
		lower, upper *graph.Node
		from, to     float64
	}{
		{"without zeros", b.Const(1), nil, 1, 60},
		{"to a largest", nil, b.Const(4), 0, 4},
		{"on both sides", b.Const(1.5), b.Const(6.5), 2, 6},
		{"from zero", b.Const(0), b.Const(3), 0, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Truncated{Base: base, Lower: c.lower, Upper: c.upper}
			if err := d.Fits(nil); err != nil {
				t.Fatal(err)
			}
			if s := d.Support(); s.Contains([]float64{c.from - 1}) || !s.Contains([]float64{c.from}) || c.upper != nil && s.Contains([]float64{c.to + 1}) {
				t.Errorf("support %v, %+v", s, s)
			}
			var rows []float64
			for x := c.from; x <= c.to; x++ {
				rows = append(rows, x)
			}
			var outcomes []outcome
			total := 0.0
			for i, l := range graphtest.Evaluate(t, b, d.LogDensity(b, Observed{X: b.Column(0)}), rows, 1) {
				outcomes = append(outcomes, outcome{rows[i : i+1], math.Exp(l)})
				total += math.Exp(l)
			}
			if !graphtest.Near(total, 1, 1e-12) {
				t.Errorf("the probabilities add up to %.15g", total)
			}
			for _, of := range []Applied{base, Apply(b, &counts.NegativeBinomial, []*graph.Node{b.Const(2.5), b.Const(1.5), nil})} {
				d, mean := Truncated{Base: of, Lower: c.lower, Upper: c.upper}, 0.0
				for i, l := range graphtest.Evaluate(t, b, d.LogDensity(b, Observed{X: b.Column(0)}), rows, 1) {
					mean += rows[i] * math.Exp(l)
				}
				if got := graphtest.Evaluate(t, b, d.Mean(b), []float64{0}, 1)[0]; !graphtest.Near(got, mean, 1e-8) {
					t.Errorf("the mean of a truncated %s is %.12g, the first moment %.12g", of.Name, got, mean)
				}
			}
			rng, draw := newRand(3), d.Sampler(nil)
			values := [][]float64{{2.5}}
			for _, n := range []*graph.Node{c.lower, c.upper} {
				if n != nil {
					v, _ := n.Value()
					values = append(values, []float64{v})
				}
			}
			xs := make([][]float64, 2000)
			for i := range xs {
				xs[i] = make([]float64, 1)
				draw(xs[i], values, rng)
			}
			requireOutcomes(t, outcomes, xs)
		})
	}
	for _, bounds := range [][2]float64{{3, 2}, {1.2, 1.8}} {
		if err := (Truncated{Base: base, Lower: b.Const(bounds[0]), Upper: b.Const(bounds[1])}).Fits(nil); err == nil {
			t.Errorf("a count between %g and %g is accepted", bounds[0], bounds[1])
		}
	}
}
