//go:build !race

package cpu_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/cpu"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
)

// memoryColumns are a hundred predictors and a label.
const memoryColumns = 101

// TestMemory reads tables of 300,000 records and takes a step on each, in a separate
// process. Its memory is at most that of an empty process and 1.3 times the table in
// float32. The columns of Parquet that are decoded at a time take the same memory for any
// table, so the test needs a large one.
func TestMemory(t *testing.T) {
	const n = 300_000
	if path := os.Getenv("D3P_TEST_MEMORY"); path != "" {
		before := peakMemory(t)
		stepOn(t, path, n)
		fmt.Printf("peak %d\n", peakMemory(t)-before)
		return
	}
	const number, row = 4, 448 // bytes of a number, and of a row in whole cache lines
	for _, c := range []struct {
		name  string
		write func(t *testing.T, n int) string
		of    int // records of the table that 1.3 is about
	}{{"CSV", writeCSV, n}, {"Parquet", writeParquet, 1_000_000}} {
		t.Run(c.name, func(t *testing.T) {
			beside := peakOf(t, "TestMemory", c.write(t, n)) - n*row
			times := float64(beside+c.of*row) / float64(c.of*memoryColumns*number)
			t.Logf("%.2f times a table of %d records, %d MB beside the rows", times, c.of, beside>>20)
			if !(times <= 1.3) {
				t.Errorf("%.2f times a table of %d records at the peak, want at most 1.3", times, c.of)
			}
		})
	}
}

// peakOf runs the test in a separate process on a table.
func peakOf(t *testing.T, test, path string) (peak int) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run", "^"+test+"$")
	c.Env = append(os.Environ(), "D3P_TEST_MEMORY="+path)
	out, err := c.Output()
	if _, e := fmt.Sscanf(string(out), "peak %d\n", &peak); err != nil || e != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return peak
}

// peakMemory is the most memory of the process so far, in bytes.
func peakMemory(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc")
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes := 0
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

func writeCSV(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var block bytes.Buffer
	for j := range memoryColumns {
		fmt.Fprintf(&block, "x%d%s", j, separator(j))
	}
	if _, err := f.Write(block.Bytes()); err != nil {
		t.Fatal(err)
	}
	block.Reset()
	const rows = 1000
	for i := range rows {
		for j := range memoryColumns - 1 {
			fmt.Fprintf(&block, "%d.%d%s", i%3, j%10, separator(j))
		}
		fmt.Fprintf(&block, "%d\n", i%2)
	}
	for range n / rows {
		if _, err := f.Write(block.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeParquet writes random numbers of seven digits, as pandas does by default except
// for its dictionaries: one group of rows, compressed.
func writeParquet(t *testing.T, n int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	column := array.NewFloat64Builder(memory.DefaultAllocator)
	for range n {
		column.Append(math.Round(1e5*rng.NormFloat64()) / 1e5)
	}
	numbers := column.NewArray()
	var fields []arrow.Field
	var columns []arrow.Array
	for j := range memoryColumns {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("x%d", j), Type: arrow.PrimitiveTypes.Float64})
		columns = append(columns, numbers)
	}
	schema := arrow.NewSchema(fields, nil)
	path := filepath.Join(t.TempDir(), "data.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := pqarrow.NewFileWriter(schema, f,
		parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryDefault(false)),
		pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(array.NewRecord(schema, columns, int64(n))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func separator(j int) string {
	if j == memoryColumns-1 {
		return "\n"
	}
	return ","
}

// stepOn takes a step of a logistic regression.
func stepOn(t *testing.T, path string, n int) {
	t.Helper()
	e := encoding.Encoding{K: memoryColumns}
	for j := range memoryColumns {
		e.Fields = append(e.Fields, encoding.Field{Column: fmt.Sprintf("x%d", j), Type: data.Real, Kind: encoding.Numeric, Missing: encoding.MissingReject, Out: []int{j}})
	}
	b := graph.NewBuilder()
	d := graph.Dim{Name: "d", Size: memoryColumns - 1}
	eta := b.MatMul(b.Columns(0, d), b.Param("w", graph.Shape{d}))
	tape, err := graph.Compile(b, b.Sub(b.Mul(b.Column(d.Size), eta), b.Softplus(eta)), nil, graph.Options{GradientOnly: true, Columns: e.K})
	if err != nil {
		t.Fatal(err)
	}
	curator, err := privacy.NewCurator(privacy.CuratorConfig{
		Table:  privacy.NewTable(privacy.TableConfig{Data: path, Encoding: e, Precision: privacy.Float32, Spare: tape.K - tape.K0, Root: noise.Insecure(1)}),
		Engine: cpu.New(cpu.Options{Threads: 2}), Root: noise.Insecure(1),
		Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Relation: event.AddRemove,
	})
	if err != nil {
		t.Fatal(err)
	}
	session, err := curator.Begin(privacy.Mechanism{
		Purpose: "test", Tape: tape, Sampler: sampler.Config{Scheme: "poisson", Rate: 0.01}, Steps: 1, BatchBound: n,
		GradientNoise: 10, Clip: privacy.Clip{Kind: privacy.Flat},
	})
	if err != nil {
		t.Fatal(err)
	}
	params, dst := make([]float64, tape.P), make([]float64, tape.P)
	if _, err := session.Step(dst, privacy.StepRequest{Params: params, ClipNorm: 1}); err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
}
