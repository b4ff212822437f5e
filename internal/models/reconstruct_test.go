package models_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
	"d3p/internal/models/predictive"
)

// given is a Rand whose normals are given.
type given struct {
	testRand
	normals []float64
}

func (g *given) Normal() float64 {
	x := g.normals[0]
	g.normals = g.normals[1:]
	return x
}

// TestReconstruction compares a reconstruction with the bound of the likelihood
// at the same noise, and its pixels with draws: a pixel is 4 with the mean's
// probability.
func TestReconstruction(t *testing.T) {
	m := compileText(t, smallVAE)
	const n = 3
	rng := rand.New(rand.NewPCG(9, 4))
	theta, aux, rows := normals(m.P, 0.8, rng), normals(8*n, 1, rng), make([]float64, 6*n)
	for i := range rows {
		rows[i] = encoding.NormalQuantile(rng.Float64())
	}
	p := predictive.NewReconstruction(m, n)
	p.Latents(&given{normals: aux})
	p.Set(theta)
	p.Records(rows, 6, n)
	machine, bound := graph.NewMachine(m.Likelihood, n), make([]float64, n)
	machine.Globals(theta, nil)
	machine.Records(rows, 6, n, aux)
	p.Bound(bound)
	for r, want := range machine.Loss() {
		if math.Abs(bound[r]-want) > 1e-12*math.Abs(want) {
			t.Errorf("bound of record %d is %v, want %v", r, bound[r], want)
		}
	}
	mean, draw, shares := make([]float64, 6*n), make([]float64, 6*n), make([]float64, 6*n)
	if !p.Mean(mean, 0) {
		t.Fatal("an image has no mean")
	}
	const draws = 4000
	for range draws {
		p.Draw(draw, 0, testRand{rng})
		for i, x := range draw {
			if x != 0 && x != 4 {
				t.Fatalf("a pixel is %v, want 0 or 4", x)
			}
			shares[i] += x / draws
		}
	}
	for i, want := range mean {
		// The mean of 4000 draws of 0 or 4 is off by at most 6.5 standard errors,
		// each at most 2/√4000, with P > 1 - 1e-9.
		if !(want > 0 && want < 4) || math.Abs(shares[i]-want) > 6.5*2/math.Sqrt(draws) {
			t.Errorf("pixel %d: mean %v, draws %v", i, want, shares[i])
		}
	}
}

// TestLevels compares the probabilities of levels with the softmax of the
// coefficients, written out here.
func TestLevels(t *testing.T) {
	m, err := models.Compile(parseFile(t, "../../configs/categorical.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const n = 2
	rng := rand.New(rand.NewPCG(9, 5))
	theta := normals(m.P, 1, rng)
	p := predictive.New(m, n)
	p.Set(theta)
	k := m.Encoding.Predictors().K
	p.Records(make([]float64, k*n), k, n) // at zero only the intercepts count
	got := make([]float64, 4*n)
	if !p.Levels(got, 0) {
		t.Fatal("a category has no levels")
	}
	if p.Mean(make([]float64, 4*n), 0) {
		t.Error("a category has a mean")
	}
	weights, sum := []float64{1, 0, 0, 0}, 1.0
	for i := range m.Params {
		if q := &m.Params[i]; q.Name == "Intercept" {
			for l := range 3 {
				weights[1+l] = math.Exp(theta[q.Offset+l])
				sum += weights[1+l]
			}
		}
	}
	for l, w := range weights {
		for b := range n {
			if math.Abs(got[l*n+b]-w/sum) > 1e-12 {
				t.Errorf("level %d: probability %v, want %v", l, got[l*n+b], w/sum)
			}
		}
	}
}
