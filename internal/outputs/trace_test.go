package outputs_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/fit/plan"
	"d3p/internal/outputs"
	"d3p/internal/report/reporttest"
)

// trace.parquet read back by Arrow: a row per iterate, a column per
// unconstrained number.
func TestTraceFile(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1, Steps: 250})
	reader, err := file.NewParquetReader(bytes.NewReader(reporttest.Contents(t, run)["trace.parquet"]))
	if err != nil {
		t.Fatal(err)
	}
	arrows, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := arrows.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	if table.NumRows() != 3 || int(table.NumCols()) != 1+len(run.Posterior.Mean) {
		t.Fatalf("%d rows, %d columns", table.NumRows(), table.NumCols())
	}
	steps := table.Column(0).Data().Chunk(0).(*array.Int32)
	if table.Schema().Field(0).Name != ".iteration" || steps.Value(2) != 201 {
		t.Errorf("first column %s ends at %d, want .iteration at 201", table.Schema().Field(0).Name, steps.Value(2))
	}
	second := table.Column(2).Data().Chunk(0).(*array.Float64)
	if name := table.Schema().Field(2).Name; name != "b[x]" || second.Value(2) != 1+1.0/201 {
		t.Errorf("%s ends at %v, want b[x] at %v", name, second.Value(2), 1+1.0/201)
	}
}

// ReadTrace reads what WriteTrace writes, and refuses nonsense.
func TestReadTrace(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1, Steps: 250})
	back, err := outputs.ParseTrace(reporttest.Contents(t, run)["trace.parquet"])
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back.Names, run.Trace.Names) || !slices.Equal(back.Steps, run.Trace.Steps) || !slices.Equal(back.Values, run.Trace.Values) {
		t.Errorf("%+v", back)
	}
	if _, err := outputs.ParseTrace([]byte("PAR1 no table PAR1")); err == nil {
		t.Error("nonsense was read")
	}
	draws := outputs.DrawsFile(outputs.Grid([]string{"a"}, 3), nil) // of int32 in the second column, where a trace has float64
	var b bytes.Buffer
	if err := draws.Write(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := outputs.ParseTrace(b.Bytes()); err == nil || err.Error() != "column 2 holds no numbers" {
		t.Errorf("draws were read as a trace: %v", err)
	}
}

// No damage of a trace is a panic, whose text would hide which file it is.
func TestReadDamagedTrace(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1, Steps: 250})
	whole := reporttest.Contents(t, run)["trace.parquet"]
	wrong := 0
	for at := range whole {
		for _, flip := range []byte{1, 0x80, 0xff} {
			damaged := slices.Clone(whole)
			damaged[at] ^= flip
			if _, err := outputs.ParseTrace(damaged); err != nil {
				wrong++
			}
		}
		if _, err := outputs.ParseTrace(whole[:at]); err == nil {
			t.Errorf("%d bytes of %d were read", at, len(whole))
		}
	}
	if wrong < len(whole)/10 {
		t.Errorf("%d of %d damages are errors", wrong, 3*len(whole))
	}
}

// The figures show the numbers that end farthest from zero, first the farthest.
func TestTraceLargest(t *testing.T) {
	trace := outputs.Trace{Names: []string{"a", "b", "c"}, Steps: []int{1, 2}, Values: []float64{9, 9, 9, 1, -3, 2}}
	lines := trace.Largest(2)
	if len(lines) != 2 || lines[0].Name != "b" || lines[1].Name != "c" || lines[0].Values[1] != -3 {
		t.Errorf("%+v", lines)
	}
	if one := (&outputs.Trace{Names: []string{"a"}, Steps: []int{1}, Values: []float64{1}}).Largest(6); one != nil {
		t.Errorf("a single iterate makes a line: %+v", one)
	}
}
