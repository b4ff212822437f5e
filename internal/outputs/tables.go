package outputs

import (
	"encoding/binary"
	"io"
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/dist"
	"d3p/internal/models/simulate"
)

// Tables are S tables of N rows with the same columns, one for each draw of the
// parameters: the content of the groups of a prior or of predictions.
type Tables struct {
	Columns []TableColumn
	S, N    int
}

// TableColumn is one column of all tables.
type TableColumn struct {
	Name   string
	Levels []string  // of a category, whose values are indices of them; else nil
	Values []float64 // [S x N]
}

// The size of the tables of the prior predictive group. The group has no tables if a record
// has more than priorColumns columns.
const (
	priorTables  = 100
	priorRows    = 50
	priorColumns = 64
)

// PriorPredictive simulates tables from the prior. It reads no data. nil for models of
// many columns, or of weights alone, which have no prior.
func PriorPredictive(m *models.Model, rng dist.Rand) *Tables {
	declared := m.Spec.Data.AllColumns()
	if len(declared) > priorColumns || PointScalars(m) > 0 {
		return nil
	}
	t := &Tables{S: priorTables, N: priorRows}
	for _, c := range declared {
		t.Columns = append(t.Columns, NewTableColumn(c, t.S*t.N))
	}
	for s := range t.S {
		table, _ := simulate.Prior(m, t.N, rng)
		for j := range t.Columns {
			copy(t.Columns[j].Values[s*t.N:], table.Values[j])
		}
	}
	return t
}

// NewTableColumn is a column with room for n values of a declared column.
func NewTableColumn(c *data.Column, n int) TableColumn {
	return TableColumn{Name: c.Name.V, Levels: c.LevelNames(), Values: make([]float64, n)}
}

// whole reports whether the values are indices of levels without gaps.
func (c *TableColumn) whole() bool {
	if slices.ContainsFunc(c.Values, math.IsNaN) {
		return false
	}
	return len(c.Levels) > 0
}

// tables writes a group of tables with the dims chain, draw and rows. Values of
// categories are indices of the levels in the array's attributes.
func (z *zarr) tables(group, rows string, t *Tables) {
	z.group(group, map[string]any{"sample_dims": sampleDims()})
	z.chains(group, t.S)
	z.count(group, rows, t.N)
	for i := range t.Columns {
		z.column(group, &t.Columns[i], []int{1, t.S, t.N}, append(sampleDims(), rows), rows)
	}
}

// column writes one array of a table; missing indices make it a float.
func (z *zarr) column(group string, c *TableColumn, shape []int, dims []string, taken ...string) {
	name := apart(c.Name, append(taken, sampleDims()...))
	attributes := map[string]any{"_ARRAY_DIMENSIONS": dims}
	if c.Levels != nil {
		attributes["levels"] = c.Levels
	}
	dtype, fill, values := "<f8", any("NaN"), any(c.Values)
	if c.whole() {
		codes := make([]int64, len(c.Values))
		for i, v := range c.Values {
			codes[i] = int64(v)
		}
		dtype, fill, values = "<i8", nil, codes
	}
	z.arrayWith(group, name, shape, attributes, dtype, fill, func(w io.Writer) error {
		return binary.Write(w, binary.LittleEndian, values)
	})
}

// apart keeps a variable from being called like a dim.
func apart(name string, dims []string) string {
	if slices.Contains(dims, name) {
		return name + "_column"
	}
	return name
}
