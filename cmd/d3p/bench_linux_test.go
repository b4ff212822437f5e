package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"d3p/cmd/d3p/internal/modelfile"
	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/run"
)

// BenchmarkCommand is d3p fit of a logistic regression of 1e6 records on 20
// predictors from CSV with default settings, beside reading the file and the
// steps alone. Times are the least of b.N, by the clock and of the processors;
// ignore ns/op, which contains all three.
func BenchmarkCommand(b *testing.B) {
	const n, d = 1_000_000, 20
	data, model := writeLogistic(b, n, d)
	m, err := modelfile.Load(model)
	if err != nil {
		b.Fatal(err)
	}
	plan, err := plan.New(m, plan.Config{Epsilon: 1})
	if err != nil {
		b.Fatal(err)
	}
	var command, reading, steps cost
	peak := int64(0)
	for range b.N {
		c := commandBeside(b, data, "fit", "--epsilon", "1", "--quiet", "--model", model, "--out", filepath.Join(b.TempDir(), "run"), data)
		start := time.Now()
		if err := c.Run(); err != nil {
			b.Fatal(err)
		}
		usage := c.ProcessState.SysUsage().(*syscall.Rusage)
		command.least(cost{time.Since(start), c.ProcessState.UserTime() + c.ProcessState.SystemTime()})
		peak = max(peak, usage.Maxrss)

		var curator *privacy.Curator
		reading.least(costOf(b, func() (err error) {
			curator, err = privacy.NewCurator(privacy.CuratorConfig{
				Table:  run.Job{Data: data}.Table(m, noise.Insecure(1)),
				Engine: cpu.New(cpu.Options{}), Root: noise.Insecure(1), Budget: plan.Budget(), Relation: plan.Relation(),
			})
			return err
		}))
		steps.least(costOf(b, func() error {
			_, err := fit.Run(context.Background(), plan, curator, nil)
			return err
		}))
	}
	b.ReportMetric(command.clock.Seconds(), "s/command")
	b.ReportMetric(reading.clock.Seconds(), "s/reading")
	b.ReportMetric(steps.clock.Seconds(), "s/steps")
	b.ReportMetric(command.clock.Seconds()/(reading.clock+steps.clock).Seconds(), "ratio")
	b.ReportMetric(command.processor.Seconds()/(reading.processor+steps.processor).Seconds(), "processor-ratio")
	b.ReportMetric(command.processor.Seconds(), "processor-s/command")
	b.ReportMetric(float64(peak)/1024, "MB/peak")
}

// cost is what something takes by the clock and of the processors.
type cost struct{ clock, processor time.Duration }

// least keeps the smaller times; zero means not measured.
func (c *cost) least(o cost) {
	if c.clock == 0 || o.clock < c.clock {
		c.clock = o.clock
	}
	if c.processor == 0 || o.processor < c.processor {
		c.processor = o.processor
	}
}

// costOf measures do in this process.
func costOf(b *testing.B, do func() error) cost {
	b.Helper()
	processor := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start, used := time.Now(), processor()
	if err := do(); err != nil {
		b.Fatal(err)
	}
	return cost{time.Since(start), processor() - used}
}

// writeLogistic writes records of d numbers of seven digits and a label, and
// the model file.
func writeLogistic(b *testing.B, n, d int) (data, model string) {
	b.Helper()
	var head, columns, terms, block bytes.Buffer
	for j := range d {
		fmt.Fprintf(&head, "x%d,", j)
		fmt.Fprintf(&columns, "    x%d: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}}\n", j)
		fmt.Fprintf(&terms, " + x%d", j)
	}
	const rows = 20_000 // written again and again
	rng := rand.New(rand.NewPCG(1, 2))
	for range rows {
		for range d {
			fmt.Fprintf(&block, "%.5f,", rng.NormFloat64())
		}
		fmt.Fprintf(&block, "%d\n", rng.IntN(2))
	}
	return writeRows(b, n, rows, head.String(), columns.String(), terms.String(), block.Bytes())
}

// writeRows writes a table of n records, a block of rows again and again, and the model file
// of a logistic regression on columns.
func writeRows(b *testing.B, n, rows int, head, columns, terms string, block []byte) (data, model string) {
	b.Helper()
	dir := b.TempDir()
	data, model = filepath.Join(dir, "data.csv"), filepath.Join(dir, "model.yaml")
	text := fmt.Sprintf(`d3p: 1
name: big
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: %d}
  out_of_range: clamp
  columns:
%s    y: {type: binary, levels: ["0", "1"]}
  missing: {default: reject}
model: {formula: y ~ 1%s, family: bernoulli, link: logit}
`, n, columns, terms)
	if err := os.WriteFile(model, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(data)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%sy\n", head); err != nil {
		b.Fatal(err)
	}
	for range n / rows {
		if _, err := f.Write(block); err != nil {
			b.Fatal(err)
		}
	}
	return data, model
}
