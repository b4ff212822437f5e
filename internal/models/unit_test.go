package models_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
	"d3p/internal/models/source"
)

// withUnits compiles a model as one of units of up to k rows, and as one whose
// rows are units of their own.
func withUnits(t *testing.T, file string, k int) (units, rows *models.Model) {
	t.Helper()
	compile := func(unit data.Unit) *models.Model {
		s := parseFile(t, file)
		s.Data.Unit = unit
		m, err := models.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	at := expr.Position{File: file, Line: 1, Column: 1}
	unit := data.Unit{At: at, Entity: source.Value[string]{V: "person", At: at}, RowsPerUnit: source.Value[int]{V: 1, At: at}}
	rows = compile(unit)
	unit.ID, unit.RowsPerUnit.V = source.Value[string]{V: "a person's id", At: at}, k
	return compile(unit), rows
}

// TestUnits checks, for every example, that log density and gradient of a unit
// are the sums over its rows, that the norm from the structure is the norm of the
// sum, and that the clipped sum of a batch uses it. Predictions are for single rows.
func TestUnits(t *testing.T) {
	const k, n = 3, 7
	for _, file := range configs(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			big, err := models.Compile(parseFile(t, file))
			if err != nil {
				t.Fatal(err)
			}
			if big.P > manyParameters {
				t.Skip("a network of many weights; mlp.yaml has the same rules")
			}
			m, single := withUnits(t, file, k)
			e := m.Encoding
			if e.UnitID != "a person's id" || e.Keep != encoding.KeepRandom || e.K != single.Encoding.K || e.Width() != k*(e.K+1) || m.Predict.K0 != single.Predict.K0 {
				t.Fatalf("encoding %+v of rows %+v", e, single.Encoding)
			}
			rng := rand.New(rand.NewPCG(3, 4))
			records, theta := simulated(e, n, rng), normals(m.P, 0.3, rng)
			units, rows := graph.NewMachine(m.Likelihood, n), graph.NewMachine(single.Likelihood, 1)
			perRow := single.Likelihood.AuxRecord // noise of one row
			if m.Likelihood.AuxRecord != k*perRow {
				t.Fatalf("%d numbers of noise for %d rows, want %d for each", m.Likelihood.AuxRecord, k, perRow)
			}
			aux := normals(k*perRow*n, 1, rng)
			units.Globals(theta, nil)
			units.Records(records, e.Width(), n, aux)
			rows.Globals(theta, nil)
			scale, sum, clipped := normals(n, 1, rng), make([]float64, m.P), make([]float64, m.P)
			size := 0.0 // of the sum, at most
			for i := range n {
				want, log := make([]float64, m.P), 0.0
				for j := range k {
					block := records[i*e.Width()+j*(e.K+1):][:e.K+1]
					if block[e.K] == 1 {
						each, own := make([]float64, m.P), make([]float64, perRow)
						for a := range own {
							own[a] = aux[(j*perRow+a)*n+i]
						}
						rows.Records(block[:e.K], e.K, 1, own)
						rows.Gradient(0, each)
						add(want, 1, each)
						log += rows.Loss()[0]
					}
				}
				got := make([]float64, m.P)
				units.Gradient(i, got)
				close10(t, "log density", units.Loss()[i], log, math.Abs(log))
				norm2 := 0.0
				for _, g := range want {
					norm2 += g * g
				}
				for p := range got {
					close10(t, "gradient", got[p], want[p], math.Sqrt(norm2))
				}
				close10(t, "squared norm", units.SquaredNorm(i), norm2, norm2)
				add(clipped, scale[i], want)
				size += math.Abs(scale[i]) * math.Sqrt(norm2)
			}
			units.AddGradients(scale, sum)
			for p := range sum {
				close10(t, "sum of gradients", sum[p], clipped[p], size)
			}
		})
	}
}

// add adds s·x to dst.
func add(dst []float64, s float64, x []float64) {
	for i := range dst {
		dst[i] += s * x[i]
	}
}

// close10 checks that two numbers agree to 1e-10 of 1 or of their size.
func close10(t *testing.T, what string, got, want, size float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-10*max(1, size)) {
		t.Errorf("%s %v, want %v", what, got, want)
	}
}

// TestUnitsVanilla checks that the vanilla gradient, too, is that of units.
func TestUnitsVanilla(t *testing.T) {
	const k = 2
	m, single := withUnits(t, "../../configs/hierarchical.yaml", k)
	e, rng := m.Encoding, rand.New(rand.NewPCG(7, 8))
	records, lambda, eta := simulated(e, 1, rng), normals(2*m.P, 0.3, rng), normals(m.P, 1, rng)
	loss := func(m *models.Model, record []float64) float64 {
		tape, err := m.VanillaTape(math.MaxFloat64)
		if err != nil {
			t.Fatal(err)
		}
		machine := graph.NewMachine(tape, 1)
		machine.Globals(lambda, nil)
		machine.Records(record, len(record), 1, eta)
		return machine.Loss()[0]
	}
	want := loss(single, records[:e.K]) + loss(single, records[e.K+1:2*e.K+1])
	close10(t, "vanilla loss", loss(m, records), want, math.Abs(want))
}

// TestUnitOfAbsentRows checks that a row that is not there does nothing, even
// when its numbers would make the gradient of a row infinite.
func TestUnitOfAbsentRows(t *testing.T) {
	m, _ := withUnits(t, "../../configs/repeated.yaml", 2)
	rng := rand.New(rand.NewPCG(5, 6))
	e := m.Encoding
	record, theta := simulated(e, 2, rng)[e.Width():], normals(m.P, 0.3, rng)
	if record[e.K] != 1 || record[2*e.K+1] != 0 {
		t.Fatalf("the second unit of %v has other rows than its first", record)
	}
	machine := graph.NewMachine(m.Likelihood, 1)
	machine.Globals(theta, nil)
	gradient := func() []float64 {
		g := make([]float64, m.P)
		machine.Records(record, e.Width(), 1, nil)
		machine.Gradient(0, g)
		return append(g, machine.Loss()[0], machine.SquaredNorm(0))
	}
	want := gradient()
	for _, f := range e.Fields {
		if f.Kind == encoding.Numeric {
			record[e.K+1+f.Out[0]] = 1e200 // its square overflows
		}
	}
	for p, g := range gradient() {
		if g != want[p] && !(math.Abs(g-want[p]) <= 1e-12*math.Abs(want[p])) {
			t.Errorf("number %d is %v with a terrible row that is not there, want %v", p, g, want[p])
		}
	}
}
