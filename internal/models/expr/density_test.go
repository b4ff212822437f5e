package expr

import (
	"math"
	"strings"
	"testing"

	"d3p/internal/models/dist"
	"d3p/internal/models/graph"
)

func (w world) density(t *testing.T, src string) (dist.Density, Errors) {
	t.Helper()
	e, errs := Parse(src, Position{File: "m.yaml", Line: 1, Column: 1})
	if errs != nil {
		t.Fatalf("Parse(%q): %v", src, errs)
	}
	return LowerDensity(e, w.env, w.b)
}

func normalDensity(x, m, s float64) float64 {
	return math.Exp(-(x-m)*(x-m)/(2*s*s)) / (s * math.Sqrt(2*math.Pi))
}

// Log densities of the row's scaled age, 0.5; slope is 2, sigma 1.
func TestDensities(t *testing.T) {
	tail := 0.5 * math.Erfc(0.5/math.Sqrt2)
	for _, c := range []struct {
		src  string
		want float64
	}{
		{"normal(slope, 3)", math.Log(normalDensity(0.5, 2, 3))},
		{"normal(scale=sigma, loc=1)", math.Log(normalDensity(0.5, 1, 1))},
		{"normal", math.NaN()},
		{"normal()", math.Log(normalDensity(0.5, 0, 1))},
		{"exponential(rate=2)", math.Log(2) - 1},
		{"mixture(pis, normal(mus, 1), over=k)", math.Log(0.25*normalDensity(0.5, -1, 1) + 0.75*normalDensity(0.5, 1, 1))},
		{"mixture(pis, normal(mus, 1))", math.Log(0.25*normalDensity(0.5, -1, 1) + 0.75*normalDensity(0.5, 1, 1))},
		{"censored(normal(0, 1), event)", math.Log(normalDensity(0.5, 0, 1))},
		{"censored(normal(0, 1), 1 - event)", math.Log(tail)},
		{"truncated(normal(0, 1), 0, inf)", math.Log(2 * normalDensity(0.5, 0, 1))},
		{"truncated(normal(0, 1), upper=0.5)", math.Log(normalDensity(0.5, 0, 1) / (1 - tail))},
		{"mixture([0.25, 0.75], normal(mus, 1), over=k)", math.Log(0.25*normalDensity(0.5, -1, 1) + 0.75*normalDensity(0.5, 1, 1))},
		{"piecewise_exponential([-1, 0], cuts=[0.25])", -0.25*math.Exp(-1) - 0.25},
		{"missing(0.2, normal(0, 1))", math.Log(0.8 * normalDensity(0.5, 0, 1))},
		{"mixture(pis, missing(0.2, normal(mus, 1)))", math.Log(0.8 * (0.25*normalDensity(0.5, -1, 1) + 0.75*normalDensity(0.5, 1, 1)))},
	} {
		w := newWorld()
		d, errs := w.density(t, c.src)
		if math.IsNaN(c.want) {
			if errs == nil {
				t.Errorf("%s is a density", c.src)
			}
			continue
		}
		if errs != nil {
			t.Errorf("%s: %v", c.src, errs)
			continue
		}
		if err := d.Fits(nil); err != nil {
			t.Errorf("%s: %v", c.src, err)
		}
		n := d.LogDensity(w.b, dist.Observed{X: w.env.Values["age"].Node})
		if got := w.value(t, n)[0]; math.Abs(got-c.want) > 1e-13 {
			t.Errorf("%s is %.15g, want %.15g", c.src, got, c.want)
		}
	}
}

// Mistakes in priors and observations.
func TestDensityMistakes(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"nromal(0, 1)", "1:1: unknown distribution nromal (did you mean normal?)"},
		{"gaussian(0, 1)", "1:1: unknown distribution gaussian (write normal(loc, scale))"},
		{"exp(1)", "1:1: unknown distribution exp (exp is a function)"},
		{"normal", "1:1: normal is not a distribution (did you mean normal?)"},
		{"1 + 2", "1:3: 1 + 2 is not a distribution (write a distribution such as normal(0, 1))"},
		{"normal(0, -1)", "1:11: argument scale of normal is -1, must be positive"},
		{"normal(0, 0)", "1:11: argument scale of normal is 0, must be positive"},
		{"normal(0, sigma, 3)", "1:18: normal takes 2 arguments, not 3"},
		{"normal(0, 1e-300)", "1:11: argument scale of normal is 1e-300, and the squares of such numbers leave their range; d3p calculates with 1e-30 to 1e+30 (write numbers of ordinary size, and give the columns a scale to suit them)"},
		{"normal(-1e31, 1)", "1:8: argument loc of normal is -1e+31, and the squares of such numbers leave their range; d3p calculates with 1e-30 to 1e+30 (write numbers of ordinary size, and give the columns a scale to suit them)"},
		{"normal(0, slope)", "1:11: argument scale of normal must be positive, but slope is real (give it a positive prior such as half_normal(1), or use exp(slope))"},
		{"normal(0, sd=1)", "1:11: normal has no argument sd (its arguments are loc=0, scale=1)"},
		{"normal(0, loc=1)", "1:11: argument loc of normal is given twice"},
		{"bernoulli(0.5, logits=2)", "1:23: bernoulli takes probs or logits, not both (leave one out)"},
		{"bernoulli()", "1:1: bernoulli needs its argument probs or logits (its arguments are probs or logits)"},
		{"bernoulli(1.5)", "1:11: argument probs of bernoulli is 1.5, must be in (0, 1)"},
		{"bernoulli(logit=2)", "1:11: bernoulli has no argument logit (did you mean logits?)"},
		{"categorical(logits=slope)", "1:20: argument logits of categorical must be a vector (give it a dim)"},
		{"mixture(pis, 3)", "1:14: 3 is not a distribution (write a distribution such as normal(0, 1))"},
		{"mixture(mus, normal(mus, 1))", "1:9: the weights of a mixture must be a simplex, but mus is real (give them the prior dirichlet(1))"},
		{"mixture(pis, normal(mus, 1), over=re)", "1:35: no dim re in [k 2]"},
		{"mixture(u, normal(0, 1))", "1:1: the components of a mixture need one dim, the weights have [hospital 3, re 2] (name it with over=)"},
		{"truncated(normal(0, 1))", "1:1: truncated has no bound (give lower=, upper= or both)"},
		{"truncated(mixture(pis, normal(mus, 1)), 0, 1)", "1:11: truncated takes a single distribution (put truncated inside)"},
		{"censored(normal(0, 1), slope)", "1:24: the event of censored must be data (name a binary column)"},
		{"missing(2, normal(0, 1))", "1:9: argument p of missing is 2, must be in (0, 1)"},
		{"mixture([0.25, 0.5], normal(mus, 1), over=k)", "1:9: argument weights of mixture must be a simplex"},
		{"mixture([0.25, 0.75], normal(mus, 1))", "1:9: a list of weights has no dim (name the dim of the components with over=)"},
		{"categorical([0.5, 0.6])", "1:13: argument probs of categorical must be a simplex"},
		{"dirichlet([1, 0])", "1:15: argument concentration of dirichlet is 0, must be positive"},
		{"dirichlet([1, slope])", "1:15: an element of the list must be a number, not slope"},
		{"dirichlet([])", "1:11: the list is empty"},
		{"normal([1, 2], 1)", "1:8: a list is no number (lists serve as arguments such as knots=[30, 90])"},
		{"joint()", "1:1: joint needs a dim first (write joint(dim, label=distribution, ...))"},
		{"joint(re, Intercept=normal(0, 1))", "1:1: joint has no distribution for age"},
		{"joint(re, Intercept=normal(0, 1), agee=normal(0, 1))", "1:35: dim re has no label 'agee' (did you mean age?)"},
		{"joint(rr, age=normal(0, 1))", "1:7: unknown dim rr (did you mean re?)"},
		{"poisson(rate=agee, log_rate=bb)", "1:14: unknown name agee (did you mean age?)\n1:29: poisson takes rate or log_rate, not both (leave one out)\n1:29: unknown name bb (did you mean b?)"},
	} {
		w := newWorld()
		d, errs := w.density(t, c.src)
		if d != nil || errs == nil {
			t.Errorf("%s is a density", c.src)
			continue
		}
		if got := strings.ReplaceAll(errs.Error(), "m.yaml:", ""); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

// Fits reports whether a value has the shape that a density takes.
func TestFits(t *testing.T) {
	d := graph.Dim{Name: "d", Size: 4}
	for _, c := range []struct {
		src   string
		shape graph.Shape
		want  string
	}{
		{"normal(0, 1)", graph.Shape{d}, ""},
		{"normal(mus, 1)", nil, "argument loc of normal has dim k, which the value scalar lacks"},
		{"normal(mus, 1)", graph.Shape{{Name: "k", Size: 3}}, "argument loc of normal has dim k of size 2, the value has 3"},
		{"dirichlet(1)", nil, "a value of dirichlet needs 1 dims, not scalar"},
		{"dirichlet(sd)", graph.Shape{d}, "argument concentration of dirichlet has dim re of size 2, the value dim d of size 4"},
		{"mixture(pis, normal(mus, 1))", graph.Shape{d}, ""},
		{"mixture(pis, normal(mus, 1))", graph.Shape{{Name: "k", Size: 2}}, "the value [k 2] has dim k, which the mixture sums over"},
		{"mixture(softmax(u, over=re), normal(0, 1), over=re)", nil, "the weights [hospital 3, re 2] of the mixture have dim hospital, which the value scalar lacks"},
		{"truncated(categorical([0.5, 0.5]), 0, 1)", nil, "categorical has no distribution function and cannot be truncated"},
		{"censored(bernoulli(0.5), event)", nil, "bernoulli has no survival function and cannot be censored"},
		{"truncated(normal(0, 1), 1, 0)", nil, "truncated between 1 and 0 leaves nothing"},
		{"dirichlet([1, 2, 3, 4])", graph.Shape{d}, ""},
		{"dirichlet([1, 2])", graph.Shape{d}, "has dim (list) of size 2, the value dim d of size 4"},
		{"piecewise_exponential(mus, [1, 2])", nil, "piecewise_exponential with 2 cuts has 3 intervals, but log_hazard has 2"},
		{"beta(mean=0.5, beta=1)", nil, "beta takes alpha and beta, or mean and kappa"},
		{"joint(re, age=normal(0, 1), Intercept=poisson(2))", graph.Shape{{Name: "re", Size: 2}}, ""},
		{"mixture(pis, joint(re, age=normal(mus, 1), Intercept=poisson(2)))", graph.Shape{{Name: "re", Size: 2}}, ""},
		{"joint(re, age=normal(0, 1), Intercept=poisson(2))", graph.Shape{d}, "joint describes a vector along dim re of 2 elements, not [d 4]"},
		{"uniform(slope, 1)", nil, "the bounds of uniform must be numbers"},
		{"uniform(1, 1)", nil, "uniform between 1 and 1 leaves nothing"},
	} {
		w := newWorld()
		density, errs := w.density(t, c.src)
		if errs != nil {
			t.Errorf("%s: %v", c.src, errs)
			continue
		}
		err := density.Fits(c.shape)
		if c.want == "" {
			n := density.LogDensity(w.b, dist.Observed{X: w.b.Param("value", c.shape)})
			if err := w.b.TakeErr(); err != nil || n.Bad() {
				t.Errorf("%s of %v: %v", c.src, c.shape, err)
			}
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s for %v: %v, want %q", c.src, c.shape, err, c.want)
		}
	}
}

func TestShape(t *testing.T) {
	w := newWorld()
	e, _ := Parse("lkj_cholesky(2) [re, re]", Position{})
	_, dims, _ := SplitDims(e)
	shape, errs := w.env.Shape(dims)
	if errs != nil || shape.String() != "[re 2, re' 2]" {
		t.Errorf("Shape = %v, %v", shape, errs)
	}
	e, _ = Parse("normal(0, 1) [hospita, k]", Position{Line: 3, Column: 5})
	_, dims, _ = SplitDims(e)
	if _, errs := w.env.Shape(dims); errs.Error() != "3:19: unknown dim hospita (did you mean hospital?)" {
		t.Errorf("Shape reports %v", errs)
	}
}
