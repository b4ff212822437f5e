package cpu_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/stattest"
)

// faulty is an engine whose sums are changed.
type faulty struct {
	privacy.Engine
	change func(sum []float64)
}

type faultyWorker struct {
	privacy.Worker
	change func(sum []float64)
}

func (f faulty) Open(t *graph.Tape, rows *privacy.Rows) (privacy.Worker, error) {
	w, err := f.Engine.Open(t, rows)
	return faultyWorker{w, f.change}, err
}

func (f faultyWorker) ClippedSum(dst []float64, in privacy.StepInput, batch []uint32, all bool, clip privacy.Clip) (float64, error) {
	count, err := f.Worker.ClippedSum(dst, in, batch, all, clip)
	f.change(dst)
	return count, err
}

// A trial lets an engine that is right pass on every example, and stops one that is not.
func TestTryFindsFaults(t *testing.T) {
	stattest.SkipNumerics(t)
	files, err := filepath.Glob("../../configs/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	faults := map[string]func(sum []float64){
		"zeros":        func(sum []float64) { clear(sum) },
		"1 % more":     func(sum []float64) { scale(sum, 1.01) },
		"not a number": func(sum []float64) { sum[len(sum)-1] = math.NaN() },
		"the largest has another sign": func(sum []float64) {
			at := 0
			for i, x := range sum {
				if math.Abs(x) > math.Abs(sum[at]) {
					at = i
				}
			}
			sum[at] *= -1
		},
	}
	reference := cpu.New(cpu.Options{Threads: 1})
	for _, file := range files {
		m := example(t, file)
		if m.Likelihood.P > 5000 {
			continue // networks: the smaller ones suffice
		}
		for _, p := range []privacy.Precision{privacy.Float32, privacy.Float64} {
			engine := cpu.New(cpu.Options{Threads: 2})
			if err := privacy.Try(engine, reference, m, p); err != nil {
				t.Errorf("%s, precision %d: %v", file, p, err)
			}
			for name, change := range faults {
				if err := privacy.Try(faulty{engine, change}, reference, m, p); err == nil || !strings.Contains(err.Error(), "cpu computes") {
					t.Errorf("%s, precision %d, %s: %v", file, p, name, err)
				}
			}
		}
	}
}

func scale(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}

// example compiles a model file with the public files that it names.
func example(t *testing.T, path string) *models.Model {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Read(path, text, func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(filepath.Dir(path), name)) })
	if err != nil {
		t.Fatal(err)
	}
	return m
}
