package outputs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"d3p/internal/models"
	"d3p/internal/models/naming"
	"d3p/internal/parquet"
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

// freeNames names the unconstrained numbers of m but weights that are points: by the
// parameter if they equal it one by one, else by their place.
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
		if !naming.IsStandardised(name) {
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

// mostTraced bounds the numbers of a trace that is read.
const mostTraced = 1 << 27

// parseTrace reads the output of TraceFile.
func parseTrace(raw []byte) (*Trace, error) {
	f, err := parquet.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, err
	}
	columns := f.Columns()
	if len(columns) == 0 || columns[0].Kind != parquet.Int || f.Rows() > mostTraced/int64(len(columns)) {
		return nil, errors.New("the file has no column of steps, or too many numbers")
	}
	n, p := int(f.Rows()), len(columns)-1
	cells, err := cellsOf(f, 0, n)
	if err != nil {
		return nil, err
	}
	t := &Trace{Values: make([]float64, n*p)}
	for _, step := range cells.Ints {
		t.Steps = append(t.Steps, int(step))
	}
	for j, column := range columns[1:] {
		if column.Kind != parquet.Float {
			return nil, fmt.Errorf("column %d holds no numbers", j+2)
		}
		if cells, err = cellsOf(f, j+1, n); err != nil {
			return nil, err
		}
		for i, v := range cells.Floats {
			t.Values[i*p+j] = v
		}
		t.Names = append(t.Names, column.Name)
	}
	return t, nil
}

// cellsOf reads the n cells of column i, none of which is null.
func cellsOf(f *parquet.File, i, n int) (cells parquet.Cells, err error) {
	r, err := f.Reader(i)
	if err != nil {
		return cells, err
	}
	defer r.Close()
	if err := r.Read(&cells, n); err != nil {
		return cells, err
	}
	if cells.N != n || cells.Null != nil {
		return cells, fmt.Errorf("column %d has not a number in each of %d rows", i+1, n)
	}
	return cells, nil
}
