package outputs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet/file"

	"d3p/internal/models"
	"d3p/internal/posterior"
	"d3p/internal/release"
)

// TraceName is the file of the iterates.
const TraceName = "trace.parquet"

// Trace holds iterates of a fit, thinned: the location of every unconstrained
// number. The mechanism released each of them, so the claim covers them.
type Trace struct {
	Names  []string  // of the P unconstrained numbers
	Steps  []int     // 1 to T, of each kept iterate
	Values []float64 // [len(Steps) x P]
}

// TraceOf is the trace of a fit of m; nil when all its parameters are weights.
func TraceOf(m *models.Model, p *posterior.Posterior) *Trace {
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

// freeNames names the unconstrained numbers of m but weights that are points: like the
// parameters that they equal one by one, else by their place.
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

// TraceFile is trace.parquet: the column .iteration, from 1, and one per
// unconstrained number.
func TraceFile(t *Trace, metadata map[string]string) release.File {
	return release.File{Name: TraceName, Covered: true, Write: func(w io.Writer) error {
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

// ReadTrace reads trace.parquet of a release; nil without one.
func ReadTrace(f *release.Folder) (*Trace, error) {
	if !f.Has(TraceName) {
		return nil, nil
	}
	raw, err := f.ReadFile(TraceName)
	if err != nil {
		return nil, err
	}
	t, err := parseTrace(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", TraceName, err)
	}
	return t, nil
}

// parseTrace reads what traceFile writes.
func parseTrace(raw []byte) (*Trace, error) {
	r, err := file.NewParquetReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	columns := r.MetaData().Schema.NumColumns()
	if columns == 0 {
		return nil, errors.New("the file has no column")
	}
	steps, err := columnOf[int32](r, 0)
	if err != nil {
		return nil, err
	}
	t := &Trace{Values: make([]float64, len(steps)*(columns-1))}
	for _, step := range steps {
		t.Steps = append(t.Steps, int(step))
	}
	for c := 1; c < columns; c++ {
		values, err := columnOf[float64](r, c)
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			t.Values[i*(columns-1)+c-1] = v
		}
		t.Names = append(t.Names, r.MetaData().Schema.Column(c).Name())
	}
	return t, nil
}

// columnOf reads column c of all row groups of a Parquet file: one value a row.
func columnOf[T int32 | float64](r *file.Reader, c int) (values []T, err error) {
	buffer := make([]T, 4096)
	for g := range r.NumRowGroups() {
		chunk, err := r.RowGroup(g).Column(c)
		if err != nil {
			return nil, err
		}
		reader, ok := chunk.(interface {
			ReadBatch(batch int64, values []T, definition, repetition []int16) (total int64, read int, err error)
		})
		if !ok || chunk.Descriptor().MaxDefinitionLevel() > 0 || chunk.Descriptor().MaxRepetitionLevel() > 0 {
			return nil, fmt.Errorf("column %s is not %T without nulls", chunk.Descriptor().Name(), *new(T))
		}
		for {
			_, read, err := reader.ReadBatch(int64(len(buffer)), buffer, nil, nil)
			if err != nil {
				return nil, err
			}
			if read == 0 {
				break
			}
			values = append(values, buffer[:read]...)
		}
	}
	if int64(len(values)) != r.NumRows() {
		return nil, fmt.Errorf("column %s has %d values for %d rows", r.MetaData().Schema.Column(c).Name(), len(values), r.NumRows())
	}
	return values, nil
}
