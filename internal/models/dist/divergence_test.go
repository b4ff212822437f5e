package dist

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/dist/categories"
	"d3p/internal/models/dist/continuous"
	"d3p/internal/models/dist/counts"
	"d3p/internal/models/graph"
	"d3p/internal/models/graph/graphtest"
)

// densities are those that have the score of a beta divergence, at one point of their
// arguments, with the number of their levels.
func densities(b *graph.Builder) map[string]struct {
	Density
	levels int
} {
	apply := func(d *Distribution, args ...*graph.Node) Density { return Apply(b, d, args) }
	c := func(v float64) *graph.Node { return b.Const(v) }
	return map[string]struct {
		Density
		levels int
	}{
		"normal":    {apply(&continuous.Normal, c(0.3), c(0.7)), 0},
		"laplace":   {apply(&continuous.Laplace, c(-0.2), c(1.6)), 0},
		"student_t": {apply(&continuous.StudentT, c(3.5), c(0.1), c(0.4)), 0},
		"bernoulli": {apply(&counts.Bernoulli, nil, c(-0.8)), 2},
		"binary":    {apply(&counts.Bernoulli, c(0.8), nil), 2},
	}
}

// The score is f^(β-1)/(β-1) − (1/β)∫f^β, with the integral by the trapezoidal rule, and
// its range the one that BetaRange says.
func TestBetaScore(t *testing.T) {
	for _, beta := range []float64{1.05, 1.5, 2, 4} {
		for name := range densities(graph.NewBuilder()) {
			value := func(x float64, score bool) float64 {
				b := graph.NewBuilder()
				d := densities(b)[name]
				at := Observed{X: b.Column(0)}
				n := d.LogDensity(b, at)
				if score {
					var err error
					if n, err = BetaScore(b, d.Density, at, beta, d.levels); err != nil {
						t.Fatal(err)
					}
				}
				return graphtest.Evaluate(t, b, n, []float64{x}, 1)[0]
			}
			power := func(x, a float64) float64 { return math.Exp(a * value(x, false)) }
			integral := power(0, beta) + power(1, beta)
			if densities(graph.NewBuilder())[name].levels == 0 {
				integral = 0
				const h = 0.05
				for v := -6.0; v <= 6; v += h { // x = sinh v: the tails of student_t
					integral += power(math.Sinh(v), beta) * math.Cosh(v) * h
				}
			}
			want := power(1, beta-1)/(beta-1) - integral/beta
			if got := value(1, true); !graphtest.Near(got, want, 1e-4) {
				t.Errorf("beta %g, %s: score %.9g, want %.9g", beta, name, got, want)
			}
		}
	}
}

// No record and no parameter takes the score out of an interval of BetaRange's length, and
// some nearly span it.
func TestBetaRange(t *testing.T) {
	for _, beta := range []float64{1.1, 1.5, 3} {
		for name, d := range map[string]func(b *graph.Builder, v float64) (Density, int){
			"bernoulli": func(b *graph.Builder, v float64) (Density, int) {
				return Apply(b, &counts.Bernoulli, []*graph.Node{nil, b.Const(v)}), 2
			},
			"normal": func(b *graph.Builder, v float64) (Density, int) {
				return Apply(b, &continuous.Normal, []*graph.Node{b.Const(v), b.Const(0.3)}), 0
			},
			"laplace": func(b *graph.Builder, v float64) (Density, int) {
				return Apply(b, &continuous.Laplace, []*graph.Node{b.Const(v), b.Const(0.3)}), 0
			},
			"student_t": func(b *graph.Builder, v float64) (Density, int) {
				return Apply(b, &continuous.StudentT, []*graph.Node{b.Const(4), b.Const(v), b.Const(0.3)}), 0
			},
			"categorical": func(b *graph.Builder, v float64) (Density, int) {
				return Apply(b, &categories.Categorical, []*graph.Node{nil, threeLevels(b, v)}), 3
			},
		} {
			low, high, length := math.Inf(1), math.Inf(-1), 0.0
			for v := -60.0; v <= 60; v += 0.5 {
				for _, x := range []float64{0, 1} {
					b := graph.NewBuilder()
					density, levels := d(b, v)
					n, err := BetaScore(b, density, Observed{X: b.Column(0)}, beta, levels)
					if err == nil {
						length, err = BetaRange(density, beta)
					}
					if err != nil {
						t.Fatal(err)
					}
					score := graphtest.Evaluate(t, b, n, []float64{x}, 1)[0]
					low, high = math.Min(low, score), math.Max(high, score)
				}
			}
			if high-low > length*(1+1e-12) || high-low < 0.85*length {
				t.Errorf("beta %g, %s: the score spans %.6g, its range is %.6g", beta, name, high-low, length)
			}
		}
	}
}

// threeLevels are logits v, 0 and −v.
func threeLevels(b *graph.Builder, v float64) *graph.Node {
	return b.Stack(graph.Dim{Name: "level", Size: 3}, b.Const(v), b.Const(0), b.Const(-v))
}

// A density without bound, or whose integral has no closed form, is refused.
func TestBetaIsRefused(t *testing.T) {
	b := graph.NewBuilder()
	x := Observed{X: b.Column(0)}
	counts := Apply(b, &counts.Poisson, []*graph.Node{b.Const(2), nil})
	if _, err := BetaScore(b, counts, x, 1.5, 0); err == nil {
		t.Error("poisson has no closed form")
	}
	if _, err := BetaRange(Apply(b, &continuous.Normal, []*graph.Node{b.Const(0), b.Param("sigma", nil)}), 1.5); err == nil {
		t.Error("a normal of unknown scale has no bound")
	}
}

// No linear predictor has a steeper score than BetaSlope, and some are nearly as steep.
func TestBetaSlope(t *testing.T) {
	logs := map[string]func(eta float64) (one, zero, derivative float64){ // of p, 1−p and dp/dη
		"logit": func(eta float64) (one, zero, derivative float64) {
			one, zero = -math.Log1p(math.Exp(-eta)), -math.Log1p(math.Exp(eta))
			return one, zero, one + zero
		},
		"probit": func(eta float64) (one, zero, derivative float64) {
			log := func(z float64) float64 { return math.Log(math.Erfc(-z/math.Sqrt2) / 2) }
			return log(eta), log(-eta), -eta*eta/2 - math.Log(2*math.Pi)/2
		},
		"cloglog": func(eta float64) (one, zero, derivative float64) {
			zero = -math.Exp(eta)
			return math.Log(-math.Expm1(zero)), zero, eta + zero
		},
	}
	for link, at := range logs {
		for _, beta := range []float64{1.01, 1.1, 1.5, 2, 3} {
			steepest := 0.0
			for eta := -37.0; eta < 37; eta += 0.001 {
				one, zero, derivative := at(eta)
				of := func(p, q float64) float64 {
					return math.Exp(derivative+(beta-2)*p+q) + math.Exp(derivative+(beta-1)*q)
				}
				for _, slope := range []float64{of(one, zero), of(zero, one)} {
					if slope-slope == 0 {
						steepest = max(steepest, slope)
					}
				}
			}
			if bound := BetaSlope(link, beta); steepest > bound || steepest < 0.97*bound {
				t.Errorf("%s, beta %g: a slope of %.6g, the bound is %.6g", link, beta, steepest, bound)
			}
		}
	}
	if bound := BetaSlope("log", 1.5); !math.IsInf(bound, 1) {
		t.Errorf("a bound of %g for a link without one", bound)
	}
}

// No logits of a category have a longer gradient of the score than BetaSlope, and some, where two
// levels have nearly all probability, one nearly as long.
func TestBetaSlopeOfSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, beta := range []float64{1.01, 1.1, 1.2, 1.5, 2, 3} {
		bound := BetaSlope("softmax", beta)
		for _, levels := range []int{3, 5} {
			longest, p := 0.0, make([]float64, levels)
			for range 50_000 {
				sum, scale := 0.0, math.Exp(6*rng.Float64()-2)
				for k := range p {
					p[k] = math.Exp(scale * rng.NormFloat64())
					if k > 1 {
						p[k] *= math.Exp(-20 * rng.Float64())
					}
					sum += p[k]
				}
				powers := 0.0
				for k := range p {
					p[k] /= sum
					powers += math.Pow(p[k], beta)
				}
				for y := range p {
					square := 0.0
					for k := range levels - 1 { // the last is the reference
						g := -p[k] * (math.Pow(p[y], beta-1) + math.Pow(p[k], beta-1) - powers)
						if k == y {
							g += math.Pow(p[y], beta-1)
						}
						square += g * g
					}
					longest = max(longest, math.Sqrt(square))
				}
			}
			if longest > bound || longest < 0.99*bound {
				t.Errorf("beta %g, %d levels: a gradient of norm %.6g, the bound is %.6g", beta, levels, longest, bound)
			}
		}
	}
}
