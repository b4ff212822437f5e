package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"d3p/internal/fit"
	"d3p/internal/models"
)

// Trace holds iterates of a fit, thinned: the location of every unconstrained
// number. The mechanism released each of them, so the claim covers them.
type Trace struct {
	Names  []string  // of the P unconstrained numbers
	Steps  []int     // 1 to T, of each kept iterate
	Values []float64 // [len(Steps) x P]
}

// TraceOf is the trace of a fit of m; nil when all its parameters are weights.
func TraceOf(m *models.Model, p *fit.Posterior) *Trace {
	t := &Trace{Names: freeNames(m), Steps: p.Trace.Steps}
	switch len(t.Names) {
	case m.P:
		t.Values = p.Trace.Mean
	case 0:
		return nil
	default:
		for i := range t.Steps {
			for j := range m.Params {
				if q := &m.Params[j]; !isPoint(q) {
					t.Values = append(t.Values, p.Trace.Mean[i*m.P+q.Offset:i*m.P+q.Offset+q.Size]...)
				}
			}
		}
	}
	return t
}

// freeNames names the unconstrained numbers of m but weights that are points: as the parameters that they
// stand for one by one, else by their place.
func freeNames(m *models.Model) (names []string) {
	for i := range m.Params {
		q := &m.Params[i]
		if isPoint(q) {
			continue
		}
		if q.Size == q.ConstrainedSize {
			names = append(names, q.Elements()...)
			continue
		}
		for j := range q.Size {
			names = append(names, fmt.Sprintf("%s.free[%d]", q.Name, j+1))
		}
	}
	return names
}

// traceFile is trace.parquet: the column .iteration, from 1, and one per
// unconstrained number.
func traceFile(t *Trace, metadata map[string]string) File {
	return File{"trace.parquet", true, func(w io.Writer) error {
		fields := []arrow.Field{{Name: ".iteration", Type: arrow.PrimitiveTypes.Int32}}
		steps := make([]int32, len(t.Steps))
		for i, step := range t.Steps {
			steps[i] = int32(step)
		}
		columns := []arrow.Array{int32s(steps)}
		line, p := make([]float64, len(t.Steps)), len(t.Names)
		for j, name := range t.Names {
			for i := range line {
				line[i] = t.Values[i*p+j]
			}
			fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64})
			columns = append(columns, float64s(line))
		}
		return writeParquet(w, fields, columns, metadata)
	}}
}

// Line is the trace of one number.
type Line struct {
	Name          string
	Steps, Values []float64
}

// Largest returns the lines of the n numbers that end farthest from zero.
// Standardised effects of groups, which wander freely, are left out.
func (t *Trace) Largest(n int) (lines []Line) {
	p := len(t.Names)
	if len(t.Steps) < 2 {
		return nil
	}
	last := t.Values[(len(t.Steps)-1)*p:]
	var order []int
	for j, name := range t.Names {
		if !strings.HasPrefix(name, "z_") {
			order = append(order, j)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := math.Abs(last[a]), math.Abs(last[b]); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	for _, j := range order[:min(n, len(order))] {
		line := Line{Name: t.Names[j]}
		for i, step := range t.Steps {
			line.Steps, line.Values = append(line.Steps, float64(step)), append(line.Values, t.Values[i*p+j])
		}
		lines = append(lines, line)
	}
	return lines
}

// ReadTrace reads trace.parquet of a release or of the run folder that holds
// it; nil when there is none.
func ReadTrace(dir string) (*Trace, error) {
	path := filepath.Join(ReleaseFolder(dir), "trace.parquet")
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t, err := parseTrace(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// parseTrace reads what traceFile writes.
func parseTrace(raw []byte) (*Trace, error) {
	table, err := pqarrow.ReadTable(context.Background(), bytes.NewReader(raw), nil, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	defer table.Release()
	rows, latent := int(table.NumRows()), int(table.NumCols())-1
	t := &Trace{Values: make([]float64, rows*max(latent, 0))}
	for c := range int(table.NumCols()) {
		at := 0
		for _, chunk := range table.Column(c).Data().Chunks() {
			switch x := chunk.(type) {
			case *array.Int32:
				for _, step := range x.Int32Values() {
					t.Steps = append(t.Steps, int(step))
				}
			case *array.Float64:
				for _, v := range x.Float64Values() {
					if c > 0 {
						t.Values[at*latent+c-1] = v
					}
					at++
				}
			default:
				return nil, fmt.Errorf("column %s is %s", table.Schema().Field(c).Name, chunk.DataType())
			}
		}
		if c > 0 {
			t.Names = append(t.Names, table.Schema().Field(c).Name)
		}
	}
	if len(t.Steps) != rows {
		return nil, errors.New("the first column does not number the iterates")
	}
	return t, nil
}
