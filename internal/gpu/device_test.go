//go:build linux && !nogpu

package gpu

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/enginetest"
)

// onDevice is the engine of the first CUDA device; without one the test skips and prints
// the reason. `make bench-gpu` runs these tests.
func onDevice(t testing.TB) *Engine {
	t.Helper()
	e, err := New(0, Options{})
	if err != nil {
		t.Skipf("no device: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// smallDevice: the device is slow, because it is the stand-in or NVIDIA's checkers watch
// it.
func smallDevice() bool { return os.Getenv("GPU_TEST_SMALL") != "" }

func openOn(t testing.TB, e *Engine, tape *graph.Tape, rows *privacy.Rows) *worker {
	t.Helper()
	w, err := e.Open(tape, rows)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w.(*worker)
}

func TestOnDeviceConformance(t *testing.T) {
	for _, wideFrom := range []int64{wideProducts, 0} {
		t.Run(fmt.Sprint("wide from ", wideFrom), func(t *testing.T) {
			e := onDevice(t)
			e.wideFrom = wideFrom
			enginetest.Run(t, func(*testing.T) privacy.Engine { return e },
				enginetest.Tolerance{Relative: 1e-11, Cancelling: 1e-8, Overshoot: 1e-12, Precision: privacy.Float64})
		})
	}
}

// A device computes the bits of one thread: operations, sums of all models of the
// conformance suite, steps.
func TestOnDeviceSameBits(t *testing.T) {
	device, host := onDevice(t), newOneThread(t, 1<<30)
	t.Run("operations", func(t *testing.T) { checkOperations(t, device.driver, host) })
	size, steps := 5000, 40
	if smallDevice() {
		size, steps = 300, 2
	}
	checkSameBits(t, device, host, size, steps, wideProducts, 0)
	t.Run("replicates", func(t *testing.T) {
		checkReplicates(t, device, newEngine("cuda:test", host, Options{}))
	})
}

// checkOperations compares the results of each operation at the test's points.
func checkOperations(t *testing.T, device, host driver) {
	points := testPoints()
	y := append(points[7:], points[:7]...)
	for op := range graph.NumOps {
		if op.Arity() > 0 {
			same(t, evaluate(t, device, int32(op), points, y, y), evaluate(t, host, int32(op), points, y, y))
		}
	}
}

// checkSameBits compares a device with one thread, on batches of up to size
// records and runs of n steps. The models of the conformance suite are run by all
// blocks together if their products are at least modelsWideFrom.
func checkSameBits(t *testing.T, device *Engine, host *oneThread, size, n int, modelsWideFrom ...int64) {
	hostEngine := newEngine("cuda:test", host, Options{})
	hostEngine.inputSteps = n - 1 // not all in one launch
	t.Run("sums", func(t *testing.T) {
		tape, rows := regression(t, 6, size)
		a, b := openOn(t, device, tape, rows), openOn(t, hostEngine, tape, rows)
		for _, k := range []int{1, 31, size/3 + 1, size - 1} {
			same(t, step(t, a, k, false), step(t, b, k, false))
		}
	})
	t.Run("sums of rows", func(t *testing.T) { checkAlignment(t, device, hostEngine) })
	t.Run("sums in tiles", func(t *testing.T) {
		tape, wide, single, _ := singleNetwork(t, size/3)
		for _, rows := range []*privacy.Rows{wide, single} {
			a, b := openOn(t, device, tape, rows), openOn(t, hostEngine, tape, rows)
			for _, k := range []int{31, size / 3} { // tiles of both sizes
				same(t, step(t, a, k, false), step(t, b, k, false))
			}
		}
	})
	for _, m := range enginetest.Models() {
		t.Run(m.Name, func(t *testing.T) {
			tape := m.Tape(t)
			rows := m.Table(t, tape, rand.New(rand.NewPCG(1, 2)), privacy.Float64)
			for _, from := range modelsWideFrom {
				sum := func(e *Engine) []float64 {
					defer func(from int64) { e.wideFrom = from }(e.wideFrom)
					e.wideFrom = from
					return step(t, openOn(t, e, tape, rows), 70, false)
				}
				same(t, sum(device), sum(hostEngine))
			}
		})
	}
	for _, c := range []struct {
		name  string
		wide  bool
		D     int // of all blocks: numbers for each, and rows of X
		of    func(testing.TB, int) privacy.Postprocessing
		from  func(testing.TB, int, int) (*graph.Tape, *privacy.Rows)
		drawn bool // by a network
	}{
		{"steps", false, 44, analyst, plainRegression, false}, {"steps in strands", false, 44, adamAnalyst, plainRegression, false},
		{"steps of points", false, 44, pointAnalyst, plainRegression, false},
		{"steps of a network", false, 44, analyst, plainRegression, true},
		{"steps of all blocks together", true, 1400, analyst, regression, false}, // has numbers that are the same for all records
		{"steps of points of all blocks together", true, 1400, pointAnalyst, regression, false},
		{"steps of a network, of points of all blocks together", true, 1400, pointAnalyst, plainRegression, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tape, rows := c.from(t, c.D, size)
			run := func(e *Engine) []float64 {
				if c.wide {
					defer func(from int64, words int) { e.wideFrom, e.mostWords = from, words }(e.wideFrom, e.mostWords)
					e.wideFrom, e.mostWords = 0, 0
				}
				w := openOn(t, e, tape, rows)
				post := c.of(t, tape.P)
				if err := w.Prepare(post); err != nil {
					t.Fatal(err)
				}
				in := stepsInput(n, tape.P, size, []int{size/3 + 1, 33, 0, size - 1})
				in.State = append(in.State, make([]float64, post.Absorb.P-len(in.State))...)
				if c.drawn {
					drawByNetwork(t, &in, size, 6)
				}
				if done, err := w.Steps(in); err != nil || done != n {
					t.Fatalf("%d steps: %v", done, err)
				}
				return in.Kept
			}
			same(t, run(device), run(hostEngine))
		})
	}
}
