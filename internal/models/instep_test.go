package models_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/models/simulate"
	"d3p/internal/stattest"
)

// TestLargeTablesDeriveNothing compares every example with the same model of ten million
// units, declared or in whitened coordinates: the table of the latter has no derived columns
// but squared norms, and a record has the same density and gradient.
func TestLargeTablesDeriveNothing(t *testing.T) {
	stattest.SkipNumerics(t)
	saved, compared := 0, 0
	for _, file := range configs(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			rng := testRand{rand.New(rand.NewPCG(5, 6))}
			m := compiled(t, file, 0)
			c := whitenedFor(m, rng)
			for _, rotated := range []bool{false, true} {
				small, large := m, compiled(t, file, 10_000_000)
				if rotated {
					if c == nil {
						continue
					}
					var err error
					if small, err = small.In(c); err != nil {
						t.Fatal(err)
					}
					if large, err = large.In(c); err != nil {
						t.Fatal(err)
					}
				}
				norms := map[graph.Buf]bool{}
				for _, term := range large.Likelihood.Terms {
					if term.XNorm2 != graph.NoBuf {
						norms[term.XNorm2] = true
					}
				}
				if extra := large.Likelihood.K - large.Likelihood.K0; extra != len(norms) || len(large.Likelihood.Derive) > 0 {
					t.Errorf("%d derived columns by %d instructions, %d squared norms", extra, len(large.Likelihood.Derive), len(norms))
				}
				if large.Likelihood.K < small.Likelihood.K {
					saved++
				}
				if m.Encoding.RowsPerUnit > 1 || m.Likelihood.AuxRecord > 0 || m.Likelihood.AuxGlobal > 0 {
					continue
				}
				n := 20
				if m.P > 100_000 {
					n = 2
				}
				theta := make([]float64, m.P)
				for j := range theta {
					theta[j] = 0.3 * rng.Normal()
				}
				records := simulate.Records(m, theta, n, m.DeclaredLaw(), rng)
				here, there := graph.NewMachine(large.Likelihood, n), graph.NewMachine(small.Likelihood, n)
				got, want := make([]float64, m.P), make([]float64, m.P)
				for _, machine := range []*graph.Machine{here, there} {
					machine.Globals(theta, nil)
					machine.Records(records, m.Encoding.K, n, nil)
				}
				for r := range n {
					here.Gradient(r, got)
					there.Gradient(r, want)
					for j := range want {
						if math.Abs(got[j]-want[j]) > 1e-9*(1+math.Abs(want[j])) {
							t.Fatalf("gradient %d of record %d: %v, want %v", j, r, got[j], want[j])
						}
					}
					if a, b := here.Loss()[r], there.Loss()[r]; math.Abs(a-b) > 1e-9*(1+math.Abs(b)) {
						t.Fatalf("log density of record %d: %v, want %v", r, a, b)
					}
				}
				compared++
			}
		})
	}
	if saved < 15 || compared < 30 {
		t.Errorf("%d tables are narrower, %d models were compared", saved, compared)
	}
}

// compiled compiles an example, of n units unless n is 0.
func compiled(t *testing.T, file string, n int) *models.Model {
	t.Helper()
	s := parseFile(t, file)
	if n > 0 {
		s.Data.Rows.Public.V, s.Data.Rows.UpperBound.V = n, n
	}
	m, err := models.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
