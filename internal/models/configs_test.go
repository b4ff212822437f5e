package models_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
	"d3p/internal/models/spec"
	"d3p/internal/stattest"
)

// configs lists the example model files.
func configs(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../configs/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d model files in configs, %v", len(files), err)
	}
	return files
}

// loadConfig reads a public file beside the examples.
func loadConfig(path string) ([]byte, error) { return os.ReadFile("../../configs/" + path) }

// parseFile parses a model file and the public files beside it.
func parseFile(t *testing.T, file string) *spec.Spec {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, errs := spec.Parse(file, src, loadConfig)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if len(s.Warnings) > 0 {
		t.Errorf("warnings: %v", s.Warnings)
	}
	return s
}

// simulated returns n random records of an encoding: of a row each or, with
// several rows per unit, of as many as are allowed, then one fewer, and so on.
func simulated(e encoding.Encoding, n int, rng *rand.Rand) []float64 {
	if e.RowsPerUnit <= 1 {
		return simulatedRows(e, n, rng)
	}
	var records []float64
	for i := range n {
		rows := simulatedRows(e, e.RowsPerUnit, rng)
		present := e.RowsPerUnit - i%e.RowsPerUnit
		for j := range e.RowsPerUnit {
			if j < present {
				records = append(append(records, rows[j*e.K:(j+1)*e.K]...), 1)
			} else {
				records = append(append(records, rows[:e.K]...), 0)
			}
		}
	}
	return records
}

// simulatedRows returns n random rows: codes within the levels, counts, and
// standard normals.
func simulatedRows(e encoding.Encoding, n int, rng *rand.Rand) []float64 {
	rows := make([]float64, n*e.K)
	for i := range n {
		row := rows[i*e.K : (i+1)*e.K]
		for _, f := range e.Fields {
			switch {
			case f.Kind == encoding.Numeric && (f.Scale == 0 || f.Scale == 1) && f.Type == data.Integer:
				row[f.Out[0]] = *f.Lower + float64(rng.IntN(10))
			case f.Kind == encoding.Numeric && f.Scale == 0:
				row[f.Out[0]] = *f.Lower + rng.Float64()*(*f.Upper-*f.Lower)
			case f.Kind == encoding.Numeric || f.Kind == encoding.Quantile:
				row[f.Out[0]] = rng.NormFloat64()
			case f.Kind == encoding.LevelCode:
				row[f.Out[0]] = float64(rng.IntN(len(f.Levels)))
			case f.Kind == encoding.MissingIndicator:
				row[f.Out[0]] = float64(rng.IntN(2))
			case f.Kind == encoding.OneHot:
				if out := f.Out[rng.IntN(len(f.Out))]; out >= 0 {
					row[out] = 1
				}
			}
		}
	}
	return rows
}

func normals(n int, scale float64, rng *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = scale * rng.NormFloat64()
	}
	return x
}

// TestConfigs compiles every example, checks its gradients against difference
// quotients, and that the rendered file and the rendered core blocks are the
// same model: the same log likelihood, prior and predictions to the last bit.
func TestConfigs(t *testing.T) {
	for _, file := range configs(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := parseFile(t, file)
			m, err := models.Compile(s)
			if err != nil {
				t.Fatal(err)
			}
			if stattest.Race && m.P > manyParameters {
				t.Skip("a large network: without the race detector")
			}
			rng := rand.New(rand.NewPCG(1, 2))
			sd, records := 0.3, 8
			if m.P > manyParameters {
				sd, records = 0.01, 2 // wide layers
			}
			rows, theta := simulated(m.Encoding, records, rng), normals(m.P, sd, rng)
			checkGradients(t, m, rows, theta)
			checkDensityTape(t, m, rows, theta)
			core, errs := s.RenderCore()
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			for _, rendered := range [][]byte{s.Render(), core} {
				again, errs := spec.Parse("rendered.yaml", rendered, loadConfig)
				if len(errs) > 0 {
					t.Fatalf("%v\n%s", errs, rendered)
				}
				n, err := models.Compile(again)
				if err != nil {
					t.Fatalf("%v\n%s", err, rendered)
				}
				sameModel(t, m, n, rows, theta)
			}
		})
	}
}

// manyParameters is where a gradient is checked in some places only.
const manyParameters = 2000

// places are the parameters whose gradients are checked: all or, of many, four
// of different arrays.
func places(m *models.Model, rng *rand.Rand) []int {
	var list []int
	if m.P > manyParameters {
		for _, i := range rng.Perm(len(m.Params))[:min(4, len(m.Params))] {
			list = append(list, m.Params[i].Offset+rng.IntN(m.Params[i].Size))
		}
		return list
	}
	for j := range m.P {
		list = append(list, j)
	}
	return list
}

// recordNoise is noise of n records for the local latents of a tape.
func recordNoise(t *graph.Tape, n int) []float64 {
	return normals(t.AuxRecord*n, 1, rand.New(rand.NewPCG(8, 1)))
}

// checkGradients compares the gradients of likelihood and prior with central differences,
// whose error is about 1e-9.
func checkGradients(t *testing.T, m *models.Model, rows, theta []float64) {
	t.Helper()
	n := len(rows) / m.Encoding.Width()
	likelihood, prior := graph.NewMachine(m.Likelihood, n), graph.NewMachine(m.Prior, 1)
	noise := recordNoise(m.Likelihood, n)
	evaluate := func(theta []float64) (each []float64, log float64) {
		likelihood.Globals(theta, nil)
		likelihood.Records(rows, m.Encoding.Width(), n, noise)
		prior.Globals(theta, nil)
		return append([]float64(nil), likelihood.Loss()...), prior.Loss()[0]
	}
	each, log := evaluate(theta)
	for _, v := range append(each, log) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("log densities %v and %v", each, log)
		}
	}
	byRecord := make([][]float64, n)
	for i := range byRecord {
		byRecord[i] = make([]float64, m.P)
		likelihood.Gradient(i, byRecord[i])
	}
	ofPrior := make([]float64, m.P)
	prior.GlobalGradient(ofPrior)
	for _, j := range places(m, rand.New(rand.NewPCG(3, 1))) {
		quotients := func(h float64) (records []float64, prior float64) {
			up, down := append([]float64(nil), theta...), append([]float64(nil), theta...)
			up[j] += h
			down[j] -= h
			eachUp, logUp := evaluate(up)
			eachDown, logDown := evaluate(down)
			for i := range eachUp {
				records = append(records, (eachUp[i]-eachDown[i])/(2*h))
			}
			return records, (logUp - logDown) / (2 * h)
		}
		records, ofLogPrior := quotients(1e-5)
		near(t, "prior gradient", ofPrior[j], ofLogPrior)
		var closer []float64
		for i, want := range records {
			// A layer that takes the largest of some values has kinks, which a smaller
			// step keeps clear of.
			if !isClose(byRecord[i][j], want) {
				if closer == nil {
					closer, _ = quotients(1e-7)
				}
				want = closer[i]
			}
			near(t, "gradient", byRecord[i][j], want)
		}
	}
}

// isClose reports whether a number is a difference quotient but for its error.
func isClose(got, want float64) bool { return math.Abs(got-want) <= 1e-6*max(1, math.Abs(want)) }

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !isClose(got, want) {
		t.Fatalf("%s %v, difference quotient %v", what, got, want)
	}
}

// sameModel checks that two models agree exactly.
func sameModel(t *testing.T, a, b *models.Model, rows, theta []float64) {
	t.Helper()
	if a.P != b.P || a.Encoding.Width() != b.Encoding.Width() || len(a.Names()) != len(b.Names()) {
		t.Fatalf("P %d and %d, width %d and %d", a.P, b.P, a.Encoding.Width(), b.Encoding.Width())
	}
	others := b.Names()
	for i, name := range a.Names() {
		if others[i] != name {
			t.Fatalf("parameter %s is %s", name, others[i])
		}
	}
	n := len(rows) / a.Encoding.Width()
	for _, tapes := range [][2]*graph.Tape{{a.Likelihood, b.Likelihood}, {a.Prior, b.Prior}} {
		x, y := graph.NewMachine(tapes[0], n), graph.NewMachine(tapes[1], n)
		for _, machine := range []*graph.Machine{x, y} {
			machine.Globals(theta, nil)
			machine.Records(rows, a.Encoding.Width(), n, recordNoise(tapes[0], n))
		}
		for i, v := range x.Loss() {
			if y.Loss()[i] != v {
				t.Fatalf("log density %v and %v", v, y.Loss()[i])
			}
		}
	}
}
