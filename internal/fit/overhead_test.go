package fit_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/fit/fittest"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
	"d3p/internal/stattest"
)

// stopwatch is an Observer that keeps the least time of a step, and the live
// heap in the middle of the run.
type stopwatch struct {
	last  time.Time
	least time.Duration
	heap  uint64
}

// Step implements fit.Observer.
func (s *stopwatch) Step(t, total int, _ func() float64) {
	if took := time.Since(s.last); t > 1 && (s.least == 0 || took < s.least) {
		s.least = took
	}
	if t == (total+1)/2 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		s.heap = m.HeapAlloc
	}
	s.last = time.Now()
}

// overhead runs the same model with and without privacy in turns, in batches of
// 128 records of data, and returns what a step takes and the live heap of each.
func overhead(tb testing.TB, config, data string, threads, rounds, steps int) (private, plain stopwatch) {
	tb.Helper()
	m := modelstest.Read(tb, "../../configs/"+config)
	with := paperSettings(steps, 128)
	without := plan.Config{
		NonPrivate: true, Records: with.Records, Sampling: with.Sampling, BatchSize: with.BatchSize, Steps: steps,
		Optimizer: with.Optimizer, LearningRate: with.LearningRate, Averaging: with.Averaging,
	}
	for range rounds {
		run(tb, m, with, data, threads, &private)
		run(tb, m, without, data, threads, &plain)
	}
	return private, plain
}

// paperSettings are those of the d3p paper for batches of this size from 1024 images.
func paperSettings(steps, batch int) plan.Config {
	last := 0.0
	return plan.Config{
		Records: 1024, Sampling: "fixed_size", BatchSize: batch, Steps: steps, Optimizer: "adam", LearningRate: 1e-3, Averaging: &last,
		NoiseMultiplier: 1.5, Delta: 1e-5, Neighbours: "substitute", Clipping: settings.ClippingFlat, ClipNorm: 10,
	}
}

// run fits once and tells the stopwatch of every step.
func run(tb testing.TB, m *models.Model, cfg plan.Config, data string, threads int, watch *stopwatch) {
	p := fittest.Plan(tb, m, cfg)
	c := fittest.Curator(tb, p, privacy.CuratorConfig{
		Table: privacy.NewTable(privacy.TableConfig{
			Data: data, Encoding: m.Encoding, Spare: m.Likelihood.K - m.Likelihood.K0, Precision: privacy.Float32, Root: noise.Insecure(1),
		}),
		Engine: cpu.New(cpu.Options{Threads: threads}), Root: noise.Insecure(1),
	})
	if _, err := fit.Run(context.Background(), p, c, watch); err != nil {
		tb.Fatal(err)
	}
}

// randomImages writes n images of 28×28 random bytes and their labels as idx
// files, and returns the path of the first.
func randomImages(tb testing.TB, n int) string {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 28))
	dir := tb.TempDir()
	for name, dims := range map[string][]int{"images-idx3-ubyte": {n, 28, 28}, "labels-idx1-ubyte": {n}} {
		out, size := []byte{0, 0, 8, byte(len(dims))}, 1
		for _, d := range dims {
			out = binary.BigEndian.AppendUint32(out, uint32(d))
			size *= d
		}
		for range size {
			if len(dims) == 1 {
				out = append(out, byte(rng.IntN(10)))
			} else {
				out = append(out, byte(rng.IntN(256)))
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), out, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return filepath.Join(dir, "images-idx3-ubyte")
}

// randomTable writes 1024 records of random values, whose columns have these names, as CSV, and
// returns its path.
func randomTable(tb testing.TB, columns []string, value func(column int, rng *rand.Rand) string) string {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 29))
	var b strings.Builder
	b.WriteString(strings.Join(columns, ",") + "\n")
	for range 1024 {
		for j := range columns {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(value(j, rng))
		}
		b.WriteByte('\n')
	}
	path := filepath.Join(tb.TempDir(), "random.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// indexed are the names prefix0 to prefix(n-1) after first.
func indexed(first, prefix string, n int) []string {
	list := []string{first}
	for i := range n {
		list = append(list, prefix+strconv.Itoa(i))
	}
	return list
}

// randomRecords are random records for a network of Opacus's training benchmarks.
func randomRecords(tb testing.TB, config string) string {
	tb.Helper()
	switch config {
	case "cifar10-cnn":
		return randomTable(tb, indexed("label", "px", 3072), func(j int, rng *rand.Rand) string {
			if j == 0 {
				return []string{"airplane", "cat", "ship"}[rng.IntN(3)]
			}
			return strconv.Itoa(rng.IntN(256))
		})
	case "imdb-embedding":
		return randomTable(tb, indexed("opinion", "w", 256), func(j int, rng *rand.Rand) string {
			if j == 0 {
				return []string{"bad", "good"}[rng.IntN(2)]
			}
			return strconv.Itoa(1 + rng.IntN(10003))
		})
	case "names-gru":
		return randomTable(tb, []string{"land", "name"}, func(j int, rng *rand.Rand) string {
			if j == 0 {
				return []string{"north", "south", "east"}[rng.IntN(3)]
			}
			return strings.Repeat(string(rune('a'+rng.IntN(26))), 4+rng.IntN(12))
		})
	}
	return randomImages(tb, 1024)
}

// Clipping and noise need hardly any memory: no gradient is kept per record. The test
// compares the live heaps of two runs; its tolerance, a tenth of the auto-encoder's
// heap, is five times the variation of the garbage collector.
func TestPrivacyNeedsNoMemory(t *testing.T) {
	if stattest.Race {
		t.Skip("the race detector has memory of its own")
	}
	private, plain := overhead(t, "vae-mnist.yaml", randomImages(t, 1024), 2, 1, 1)
	if ratio := float64(private.heap) / float64(plain.heap); ratio > 1.1 {
		t.Errorf("a private step needs %d MiB, one without privacy %d: %.2f times", private.heap>>20, plain.heap>>20, ratio)
	}
}

// Batches are cut into chunks: five times the records need no more memory, except a
// sum of P numbers for each of at most sixteen threads. All values of 256 more
// records of this network would take 180 MiB.
func TestBatchesNeedNoMemory(t *testing.T) {
	if stattest.Race {
		t.Skip("the race detector has memory of its own")
	}
	m, data := modelstest.Read(t, "../../configs/cnn-mnist.yaml"), randomImages(t, 1024)
	var small, large stopwatch
	run(t, m, paperSettings(1, 64), data, 2, &small)
	run(t, m, paperSettings(1, 320), data, 2, &large)
	const sums, slack = 16 * 26010 * 8, 4 << 20
	if more := int64(large.heap) - int64(small.heap); more > sums+slack {
		t.Errorf("batches of 320 need %d MiB, batches of 64 need %d", large.heap>>20, small.heap>>20)
	}
}

// BenchmarkPrivateStep compares steps of 128 with and without privacy, in one
// run: private-ms and plain-ms are the minimum over many steps, x-time is their ratio
// and x-memory that of the live heaps.
func BenchmarkPrivateStep(b *testing.B) {
	for _, config := range []string{"vae-mnist", "mlp-mnist", "cnn-mnist", "imdb-embedding", "names-gru", "cifar10-cnn"} {
		data := randomRecords(b, config)
		for threads := range 2 {
			b.Run(fmt.Sprintf("%s/threads=%d", config, threads+1), func(b *testing.B) {
				for range b.N {
					private, plain := overhead(b, config+".yaml", data, threads+1, 3, 24)
					ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
					b.ReportMetric(ms(private.least), "private-ms")
					b.ReportMetric(ms(plain.least), "plain-ms")
					b.ReportMetric(float64(private.least)/float64(plain.least), "x-time")
					b.ReportMetric(float64(private.heap)/(1<<20), "private-MiB")
					b.ReportMetric(float64(private.heap)/float64(plain.heap), "x-memory")
				}
			})
		}
	}
}
