//go:build linux && !nogpu

package gpu

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"d3p/internal/fit"
	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// A timing is a row of the table of docs/gpu.md: fits of a model, all at once, on
// invented data.
type timing struct {
	name    string
	model   string // file in configs/, or the formula and family of a regression
	records int
	columns int // of a table; 0: images
	fits    int
	config  fit.Config
	epoch   int // steps, for the time of an epoch
}

// timings are the workloads of issue 7; small ones only show that they run.
func timings(small bool) []timing {
	last := 0.0
	const images = 60_000
	n, d, fits, scale := 1_000_000, 100, 256, 1
	if small {
		n, d, fits, scale = 500, 5, 3, 300
	}
	vae := func(batch int) fit.Config {
		return fit.Config{
			Records: images, Sampling: "fixed_size", BatchSize: batch, Steps: 3 * images / batch, Optimizer: "adam", LearningRate: 1e-3, Averaging: &last,
			NoiseMultiplier: 1.5, Delta: 1e-5, Adjacency: "substitute", Clipping: fit.ClippingFlat, ClipNorm: 10,
		}
	}
	steps := func(n int, rate float64) fit.Config {
		return fit.Config{Epsilon: 1, Delta: 1e-6, Steps: max(2, n/scale), SamplingRate: rate}
	}
	list := []timing{
		{name: "logistic N=3341 D=8", model: "y ~ 1 + x", records: 3341, columns: 8, fits: 1, config: steps(6000, 0)},
		{name: fmt.Sprintf("logistic N=%d D=%d", n, d), model: "y ~ 1 + x", records: n, columns: d, fits: 1, config: steps(3000, 0)},
		{name: fmt.Sprintf("logistic N=%d D=%d, every record", n, d), model: "y ~ 1 + x", records: n, columns: d, fits: 1, config: steps(200, 1)},
		{name: "hierarchical N=500", model: "y ~ 1 + x + (1 + x0 + x1 | g)", records: 500, columns: 5, fits: 1, config: steps(6000, 0.1)},
		{name: fmt.Sprintf("hierarchical N=500, %d fits", fits), model: "y ~ 1 + x + (1 + x0 + x1 | g)", records: 500, columns: 5, fits: fits, config: steps(6000, 0.1)},
		{name: "mixture K=5 D=2", model: "mixture", records: 2000, columns: 2, fits: 1, config: steps(6000, 0.05)},
	}
	if small { // a step of the autoencoder takes one thread a second
		return list
	}
	return append(list,
		timing{name: "autoencoder B=128", model: "vae-mnist.yaml", records: images, fits: 1, config: vae(128), epoch: 469},
		timing{name: "autoencoder B=512", model: "vae-mnist.yaml", records: images, fits: 1, config: vae(512), epoch: 118})
}

// TestOnDeviceTimes prints what a step of whole fits takes: batches, gradients,
// noise, optimizer and what the host does in between.
func TestOnDeviceTimes(t *testing.T) {
	e := onDevice(t)
	if smallDevice() {
		t.Skip("nothing to time")
	}
	printTimes(t, e, timings(false))
}

// What is to be timed on a device runs.
func TestTimesRun(t *testing.T) {
	if raceDetector {
		t.Skip("it is the same with and without")
	}
	printTimes(t, newEngine("cuda:test", newOneThread(t, 1<<30), Options{}), timings(true))
}

func printTimes(t *testing.T, e *Engine, list []timing) {
	fmt.Println("| workload | records in a batch | µs a step | steps/s of all fits | table read | an epoch |\n|---|---|---|---|---|---|")
	for _, w := range list {
		w.measure(t, e)
	}
}

func (w timing) measure(t *testing.T, e privacy.Engine) {
	t.Helper()
	m := w.compile(t)
	table := privacy.NewTable(privacy.TableConfig{
		Data: w.data(t), Encoding: m.Encoding, Spare: m.Likelihood.K - m.Likelihood.K0, Precision: privacy.Float32, Root: noise.Insecure(1),
	})
	watches := make([]stopwatch, w.fits)
	plan, err := fit.NewPlan(m, w.config)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for k := range w.fits {
		watches[k].first = time.Now()
		wait.Go(func() { runFit(t, plan, e, table, noise.Insecure(3).Child(uint64(k)), &watches[k]) })
	}
	wait.Wait()
	first, last, steps := watches[0].first, watches[0].last, 0
	for _, s := range watches {
		steps += s.steps
		if s.first.Before(first) {
			first = s.first
		}
		if s.last.After(last) {
			last = s.last
		}
	}
	seconds := last.Sub(first).Seconds()
	step := seconds / float64(steps) * float64(w.fits)
	batch := plan.SamplingRate * float64(w.records)
	read, epoch := "", ""
	if w.columns > 0 {
		read = fmt.Sprintf("%.1f GB/s", batch*float64(4*m.Likelihood.K)*float64(w.fits)/step/1e9)
	}
	if w.epoch > 0 {
		epoch = fmt.Sprintf("%.3f s", step*float64(w.epoch))
	}
	fmt.Printf("| %s | %.0f | %.1f | %.0f | %s | %s |\n", w.name, batch, 1e6*step, float64(steps)/seconds, read, epoch)
}

// A stopwatch is an Observer that measures the steps after the first call, if
// there are any.
type stopwatch struct {
	first, last time.Time
	at, steps   int
}

// Step implements fit.Observer.
func (s *stopwatch) Step(t, total int, _ func() float64) {
	s.last = time.Now()
	if s.at == 0 && t < total {
		s.at, s.first = t, s.last
	}
	s.steps = t - s.at
}

// compile reads the model of configs/, or writes that of a regression.
func (w timing) compile(t *testing.T) *models.Model {
	t.Helper()
	source := regressionSpec(w.model, w.columns, w.records)
	switch {
	case w.model == "mixture":
		source = fmt.Sprintf(mixtureSpec, w.records)
	case w.columns == 0:
		text, err := os.ReadFile("../../configs/" + w.model)
		if err != nil {
			t.Fatal(err)
		}
		source = string(text)
	}
	m, err := models.Read("timing.yaml", []byte(source), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// regressionSpec is a logistic regression on predictors x0, x1, ...; x stands for
// all of them.
func regressionSpec(formula string, predictors, records int) string {
	var names []string
	columns := ""
	for k := range predictors {
		names = append(names, fmt.Sprint("x", k))
		columns += fmt.Sprintf("    x%d: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}, source: public}\n", k)
	}
	return `d3p: 1
name: timing
description: A regression on invented records, for timing.
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: ` + fmt.Sprint(records) + `}
  columns:
` + columns + `    g: {type: category, levels: ["0", "1", "2"]}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: ` + strings.Replace(formula, "x", strings.Join(names, " + "), 1) + `
  family: bernoulli
`
}

const mixtureSpec = `d3p: 1
name: timing
description: A mixture on invented records, for timing.
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: %d}
  columns:
    x0: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}, source: public}
    x1: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}, source: public}
core:
  dims: {k: 5, d: [x0, x1]}
  params:
    weights: dirichlet(1) [k]
    mean: normal(0, 3) [k, d]
    sd: inverse_gamma(1, 1) [k, d]
  rows:
    observe:
      d: mixture(weights, normal(mean, sd), over=k)
`

// data writes invented records: a table, or images of random bytes.
func (w timing) data(t *testing.T) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 28))
	write := func(name string, fill func(out *bufio.Writer)) string {
		path := filepath.Join(t.TempDir(), name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		out := bufio.NewWriterSize(f, 1<<20)
		fill(out)
		if err := out.Flush(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if w.columns == 0 {
		return write("images-idx3-ubyte", func(out *bufio.Writer) {
			out.Write([]byte{0, 0, 8, 3})
			for _, d := range []uint32{uint32(w.records), 28, 28} {
				binary.Write(out, binary.BigEndian, d)
			}
			for range w.records * 784 {
				out.WriteByte(byte(rng.IntN(256)))
			}
		})
	}
	return write("records.csv", func(out *bufio.Writer) {
		for k := range w.columns {
			fmt.Fprintf(out, "x%d,", k)
		}
		out.WriteString("g,y\n")
		var cell []byte
		for range w.records {
			for range w.columns {
				cell = append(strconv.AppendFloat(cell[:0], rng.NormFloat64(), 'f', 2, 64), ',')
				out.Write(cell)
			}
			fmt.Fprintf(out, "%d,%d\n", rng.IntN(3), rng.IntN(2))
		}
	})
}
