package models_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/difference"
	"d3p/internal/models/guide"
	"d3p/internal/stattest"
)

// customModel has a guide with a law for every kind of support.
const customModel = `core:
  dims: {k: 3, d: [y, z]}
  params:
    w: dirichlet(1) [k]
    mu: normal(0, 3) [k, d]
    sd: half_normal(1) [d]
    share: beta(1, 1)
    df: gamma(2, 0.1)
    slope: normal(0, 1)
  rows:
    observe:
      d: mixture(w, student_t(df, mu + slope * share, sd), over=k)
guide:
  type: custom
  params:
    w: dirichlet(exp(alpha))
    mu: normal(loc, 0.5)
    sd: gamma(exp(shape), exp(rate))
    share: beta(exp(p), 2)
    df: prior
  free:
    alpha: zeros [k]
    loc: 0.25 [k, d]
    shape: ones [d]
    rate: zeros
    p: -0.5
`

func customGuideOf(t *testing.T) (*models.Model, guide.Guide, []float64) {
	t.Helper()
	m := compile(t, dataBlock(0, "y: {type: real, lower: -5, upper: 5}", "z: {type: real, lower: -5, upper: 5}")+customModel)
	g := m.CustomGuide()
	if g == nil || g.Latent() != m.P || g.Size() != 3+6+2+1+1+2 {
		t.Fatalf("guide %v", g)
	}
	lambda := make([]float64, g.Size())
	g.Init(lambda, make([]float64, m.P), 0.1)
	for i := range lambda {
		lambda[i] += 0.3 * math.Sin(float64(3*i+1))
	}
	return m, g, lambda
}

// The gradient of grad·θ(λ) - log q(θ(λ); λ) at fixed η is the difference
// quotient, for laws of every support. With q(θ) = φ(η)·dη/dθ, log q is found
// without the guide's own density: by how far θ moves with η.
func TestCustomGuideGradient(t *testing.T) {
	m, g, lambda := customGuideOf(t)
	rng := rand.New(rand.NewPCG(5, 1))
	p := m.P
	eta, grad, theta, above := make([]float64, p), make([]float64, p), make([]float64, p), make([]float64, p)
	for j := range eta {
		eta[j], grad[j] = rng.NormFloat64(), rng.NormFloat64()
	}
	shift := func(dst []float64, h float64) {
		for j := range eta {
			eta[j] += h
		}
		g.Draw(dst, lambda, eta)
		for j := range eta {
			eta[j] -= h
		}
	}
	value := func() float64 {
		const h = 1e-4
		shift(theta, -h)
		shift(above, h)
		total := 0.0
		for j := range theta {
			total += math.Log(above[j] - theta[j]) // -log q, up to a constant
		}
		shift(theta, 0)
		for j, x := range theta {
			total += grad[j] * x
		}
		return total
	}
	got := make([]float64, g.Size())
	g.Pullback(got, grad, lambda, eta)
	for i := range lambda {
		if want := difference.Quotient(value, &lambda[i], 1e-3); math.Abs(got[i]-want) > 1e-4*math.Max(1, math.Abs(want)) {
			t.Errorf("free parameter %d: gradient %.9g, difference quotient %.9g", i, got[i], want)
		}
	}
}

// Draws of a custom guide are draws of its laws: every value's distribution
// function at the draw is uniform (Kolmogorov-Smirnov, alpha of stattest). The
// last element of a dirichlet(a) is a beta(a_3, a_1 + a_2), known in closed
// form for a = (1, 1, 1).
func TestCustomGuideDraws(t *testing.T) {
	m, g, lambda := customGuideOf(t)
	copy(lambda, []float64{0, 0, 0})
	rng := rand.New(rand.NewPCG(5, 2))
	const n = 500
	eta, theta, values := make([]float64, m.P), make([]float64, m.P), make([]float64, m.Constrained)
	var last, location []float64
	for range n {
		for j := range eta {
			eta[j] = rng.NormFloat64()
		}
		g.Draw(theta, lambda, eta)
		m.Constrain(values, theta)
		last = append(last, values[2])
		location = append(location, values[3])
	}
	stattest.Require(t, "last weight", stattest.KolmogorovSmirnov(last, func(x float64) float64 { return 1 - (1-x)*(1-x) }))
	stattest.Require(t, "a mean", stattest.KolmogorovSmirnov(location, func(x float64) float64 {
		return 0.5 * math.Erfc(-(x-lambda[3])/0.5/math.Sqrt2)
	}))
}

// A starting point is added where a free parameter is a location, and nowhere
// else; medians and scales of normals are their own.
func TestCustomGuideStart(t *testing.T) {
	m, g, _ := customGuideOf(t)
	lambda, mean := make([]float64, g.Size()), make([]float64, m.P)
	for j := range mean {
		mean[j] = float64(j)
	}
	g.Init(lambda, mean, 0.1)
	offset := m.Params[1].Offset
	slope := m.Params[5].Offset
	want := []float64{0, 0, 0, 0.25 + float64(offset), 1.25 + float64(offset), 2.25 + float64(offset), 3.25 + float64(offset), 4.25 + float64(offset), 5.25 + float64(offset), 1, 1, 0, -0.5, float64(slope), math.Log(0.1)}
	compare(t, "start", lambda, want)
	sd := make([]float64, m.P)
	g.SD(sd, lambda)
	location := guide.Location(g, lambda)
	for j := range 6 {
		if math.Abs(location[offset+j]-lambda[3+j]) > 1e-9 || math.Abs(sd[offset+j]-0.5) > 1e-9 {
			t.Errorf("mean %d: median %g and scale %g, want %g and 0.5", j, location[offset+j], sd[offset+j], lambda[3+j])
		}
	}
}

// A step of a custom guide does not allocate.
func TestCustomGuideAllocations(t *testing.T) {
	m, g, lambda := customGuideOf(t)
	eta, theta, pull := make([]float64, m.P), make([]float64, m.P), make([]float64, g.Size())
	if n := testing.AllocsPerRun(3, func() {
		g.Draw(theta, lambda, eta)
		g.Pullback(pull, theta, lambda, eta)
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
