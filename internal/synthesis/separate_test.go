package synthesis_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/synthesis"
)

// A separate table of many columns is much closer to the records, by pairs, than independent
// columns are, and the drawer says that its relations are shrunk.
func TestSeparateTablesOfManyColumnsKeepPairs(t *testing.T) {
	const columns, n = 8, 5000
	var header bytes.Buffer
	text := "d3p: 1\ndata:\n  unit: {entity: person, rows_per_unit: 1}\n  rows: {public: 5000}\n  columns:\n"
	for k := range columns {
		text += fmt.Sprintf("    c%d: {type: category, levels: [a, b, c, d]}\n", k)
		fmt.Fprintf(&header, "c%d", k)
		if k < columns-1 {
			header.WriteByte(',')
		}
	}
	m := read(t, text+"twin: {engine: marginals}\n")
	records, random := make([][]float64, columns), public(20)
	file := &header
	for range n {
		level := int(4 * random.Uniform())
		for k := range columns {
			if random.Uniform() < 0.2 { // else as the column before
				level = int(4 * random.Uniform())
			}
			records[k] = append(records[k], float64(level))
			file.WriteByte("\n,"[min(k, 1)])
			file.WriteByte("abcd"[level])
		}
	}
	file.WriteByte('\n')
	table, _ := learn(t, m, file.Bytes(), event.AddRemove, 15, 21)
	d, err := synthesis.NewDrawer(table, m, true, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if limits, err := synthesis.LimitsOf(table, m); err != nil || !limits.Shrunk {
		t.Error("nothing says that relations are shrunk", err)
	}
	d.Perturb(random)
	got, most := pairDistance(records, fill(t, m, d, n, true, random)), pairDistance(records, apart(records, random))
	if got > most/4 {
		t.Errorf("pairs of a separate table have the distance %.3f, of independent columns %.3f", got, most)
	}
}

// pairDistance is the mean total variation between two tables' pairs of columns of four levels.
func pairDistance(a, b [][]float64) float64 {
	sum, pairs := 0.0, 0.0
	for j := range a {
		for k := range j {
			var cells [16]float64
			for i := range a[j] {
				cells[int(4*a[j][i]+a[k][i])]++
				cells[int(4*b[j][i]+b[k][i])]--
			}
			for _, y := range cells {
				sum += math.Abs(y) / (2 * float64(len(a[j])))
			}
			pairs++
		}
	}
	return sum / pairs
}

// apart has the columns of a table, each in a random order of its own.
func apart(table [][]float64, random *noise.Random) [][]float64 {
	var out [][]float64
	for _, column := range table {
		column = slices.Clone(column)
		for i := len(column) - 1; i > 0; i-- {
			j := int(random.Uniform() * float64(i+1))
			column[i], column[j] = column[j], column[i]
		}
		out = append(out, column)
	}
	return out
}
