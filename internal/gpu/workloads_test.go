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
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/settings"
)

// A timing is a row of the table of docs/results/gpu.txt: fits of a model, all at once, on
// simulated data.
type timing struct {
	name    string
	model   string // file in configs/, or the formula and family of a regression
	records int
	columns int // of a table; 0: images
	fits    int
	config  plan.Config
	epoch   int // steps, for the time of an epoch
}

// timings are the workloads that are timed on a card, as `--device cuda` plans them; small
// ones only show that they run.
func timings(small bool) []timing {
	last := 0.0
	const images = 60_000
	few, n, d, fits, scale := 3341, 1_000_000, 100, 256, 1
	if small {
		few, n, d, fits, scale = 200, 500, 5, 3, 10_000
	}
	vae := func(batch int) plan.Config {
		return plan.Config{
			Records: images, Sampling: "fixed_size", BatchSize: batch, Steps: 5 * images / batch, Optimizer: "adam", LearningRate: 1e-3, Averaging: &last,
			NoiseMultiplier: 1.5, Delta: 1e-5, Neighbours: "substitute", Card: true, Clipping: settings.ClippingFlat, ClipNorm: 10,
		}
	}
	steps := func(n int, rate float64) plan.Config {
		return plan.Config{Epsilon: 1, Delta: 1e-6, Steps: max(2, n/scale), SamplingRate: rate, Card: true}
	}
	const flat, grouped = "y ~ 1 + x", "y ~ 1 + x + (1 + x0 + x1 | g)"
	list := []timing{
		{name: fmt.Sprintf("logistic N=%d D=8 B=67", few), model: flat, records: few, columns: 8, fits: 1, config: steps(20_000, 67/float64(few))},
		{name: fmt.Sprintf("logistic N=%d D=8", few), model: flat, records: few, columns: 8, fits: 1, config: steps(20_000, 0)},
		{name: "hierarchical N=500", model: grouped, records: 500, columns: 5, fits: 1, config: steps(20_000, 0.1)},
		{name: fmt.Sprintf("hierarchical N=500, %d fits", fits), model: grouped, records: 500, columns: 5, fits: fits, config: steps(20_000, 0.1)},
		{name: "mixture K=5 D=2", model: "mixture", records: 2000, columns: 2, fits: 1, config: steps(20_000, 0.05)},
		{name: fmt.Sprintf("large logistic N=%d D=%d", n, d), model: flat, records: n, columns: d, fits: 1, config: steps(5000, 0)},
		{name: fmt.Sprintf("large logistic N=%d D=%d, every record", n, d), model: flat, records: n, columns: d, fits: 1, config: steps(1500, 1)},
	}
	if small { // a step of the autoencoder takes one thread a second
		return list
	}
	return append(list,
		timing{name: "autoencoder B=128", model: "vae-mnist.yaml", records: images, fits: 1, config: vae(128), epoch: 469},
		timing{name: "autoencoder B=512", model: "vae-mnist.yaml", records: images, fits: 1, config: vae(512), epoch: 118})
}

// compile reads the model of configs/, or writes that of a regression.
func (w timing) compile(t *testing.T) *models.Model {
	t.Helper()
	switch {
	case w.model == "mixture":
		return modelstest.Compile(t, "timing.yaml", fmt.Sprintf(mixtureSpec, w.records))
	case w.columns == 0:
		return modelstest.Read(t, "../../configs/"+w.model)
	}
	return modelstest.Compile(t, "timing.yaml", regressionSpec(w.model, w.columns, w.records))
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
description: A regression on simulated records, for timing.
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
description: A mixture on simulated records, for timing.
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

// data writes simulated records: a table, or images of random bytes.
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
		var lines [4096][]byte // written again and again: numbers take long to print
		for i := range min(len(lines), w.records) {
			for range w.columns {
				lines[i] = append(strconv.AppendFloat(lines[i], rng.NormFloat64(), 'f', 2, 64), ',')
			}
			lines[i] = fmt.Appendf(lines[i], "%d,%d\n", rng.IntN(3), rng.IntN(2))
		}
		for i := range w.records {
			out.Write(lines[i%len(lines)])
		}
	})
}
