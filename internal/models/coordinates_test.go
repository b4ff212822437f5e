package models_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/models/simulate"
	"d3p/internal/models/whiten"
)

// whitenedFor are whitened coordinates for m by its declarations.
func whitenedFor(m *models.Model, rng testRand) *models.Coordinates {
	return whiten.Coordinates(m, m.DeclaredLaw(), 0.01, math.Inf(1), rng)
}

// TestCoordinatesKeepTheDensity compares, for every example with a linear predictor,
// the density of records and of the prior, and their gradients, at φ in the
// whitened coordinates with those at the declared θ of φ.
func TestCoordinatesKeepTheDensity(t *testing.T) {
	rotated := 0
	for _, file := range configs(t) {
		m, err := models.Compile(parseFile(t, file))
		if err != nil {
			t.Fatal(err)
		}
		rng := testRand{rand.New(rand.NewPCG(3, 4))}
		if len(m.LinearPredictors()) == 0 {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			c := whitenedFor(m, rng)
			for j := range c.Origin {
				c.Origin[j] += 0.1 * rng.Normal()
			}
			w, err := m.In(c)
			if err != nil {
				t.Fatal(err)
			}
			rotated++
			phi, theta, back := make([]float64, m.P), make([]float64, m.P), make([]float64, m.P)
			for j := range phi {
				phi[j] = 0.3 * rng.Normal()
			}
			w.Declared(theta, phi)
			w.FromDeclared(back, theta)
			for j := range phi {
				if math.Abs(back[j]-phi[j]) > 1e-9 {
					t.Fatalf("φ[%d] = %v comes back as %v", j, phi[j], back[j])
				}
			}
			records := simulate.Records(m, theta, 20, m.DeclaredLaw(), rng)
			if m.Encoding.RowsPerUnit > 1 {
				records = nil // of units; the prior alone
			}
			pull := func(g []float64) []float64 { // ∂/∂φ of a gradient in θ
				out, direction := make([]float64, m.P), make([]float64, m.P)
				for j := range out {
					e := make([]float64, m.P)
					e[j] = 1
					w.DeclaredDirection(direction, e)
					for i, x := range direction {
						out[j] += x * g[i]
					}
				}
				return out
			}
			near := func(what string, got, want []float64) {
				t.Helper()
				for j := range want {
					if math.Abs(got[j]-want[j]) > 1e-8*(1+math.Abs(want[j])) {
						t.Errorf("%s %d: %v, want %v", what, j, got[j], want[j])
					}
				}
			}
			if len(records) > 0 {
				here, there := graph.NewMachine(w.Likelihood, 20), graph.NewMachine(m.Likelihood, 20)
				here.Globals(phi, nil)
				there.Globals(theta, nil)
				here.Records(records, m.Encoding.K, 20, nil)
				there.Records(records, m.Encoding.K, 20, nil)
				near("log density of record", here.Loss(), there.Loss())
				got, want := make([]float64, m.P), make([]float64, m.P)
				for r := range 20 {
					here.Gradient(r, got)
					there.Gradient(r, want)
					near("gradient", got, pull(want))
				}
			}
			here, there := w.NewPriorDensity(), m.NewPriorDensity()
			near("log prior", []float64{here.LogDensity(phi)}, []float64{there.LogDensity(theta)})
			got, want := make([]float64, m.P), make([]float64, m.P)
			here.Gradient(got, phi)
			there.Gradient(want, theta)
			near("slope of the prior", got, pull(want))
			a, b := make([]float64, m.Constrained), make([]float64, m.Constrained)
			w.Constrain(a, phi)
			m.Constrain(b, theta)
			near("parameter", a, b)
		})
	}
	if rotated < 15 {
		t.Errorf("%d examples were rotated", rotated)
	}
}

// TestAmplify compares, for every example with a linear predictor, the coefficients, levels and
// cuts of amplified parameters with those before, in declared and in whitened coordinates.
func TestAmplify(t *testing.T) {
	for _, file := range configs(t) {
		m, err := models.Compile(parseFile(t, file))
		if err != nil {
			t.Fatal(err)
		}
		if len(m.LinearPredictors()) == 0 {
			continue
		}
		rng := testRand{rand.New(rand.NewPCG(5, 6))}
		w, err := m.In(whitenedFor(m, rng))
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []*models.Model{m, w} {
			phi, theta, after := make([]float64, m.P), make([]float64, m.P), make([]float64, m.P)
			for j := range phi {
				phi[j] = 0.3 * rng.Normal()
			}
			of.Declared(theta, phi)
			of.Amplify(phi, phi, 3)
			of.Declared(after, phi)
			scaled := make([]bool, m.P)
			same := func(what string, j int, got, want float64) {
				if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
					t.Errorf("%s: %s %d is %g, want %g", file, what, j, got, want)
				}
			}
			for _, l := range m.LinearPredictors() {
				for j := l.Coefficients.Offset; j < l.Coefficients.Offset+l.Coefficients.Size; j++ {
					scaled[j] = true
					same("coefficient", j, after[j], 3*theta[j])
				}
				cut, before := 0.0, 0.0
				for j := 0; l.Level != nil && j < l.Level.Size; j++ {
					at := l.Level.Offset + j
					scaled[at] = true
					if l.Cuts && j > 0 {
						cut, before = cut+math.Exp(after[at]), before+math.Exp(theta[at])
					} else {
						cut, before = after[at], theta[at]
					}
					same("level", at, cut, 3*before)
				}
			}
			for j, is := range scaled {
				if !is {
					same("parameter", j, after[j], theta[j])
				}
			}
		}
	}
}
