package score

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

const calls = `d3p: 1
name: calls
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 10000}
  columns:
    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    y: {type: integer, lower: 0, upper: 500}
model:
  formula: y ~ 1 + x
  family: poisson
`

// readCalls are n rows that m draws at theta, every far-th one of them with 100 more calls, and three
// that cannot be read. Persons have 1 to the most rows that a unit may have, in turn; of is the person of each row.
func readCalls(t *testing.T, m *models.Model, theta []float64, n, far int) (rows *privacy.Rows, of []int) {
	t.Helper()
	most := max(1, m.Encoding.RowsPerUnit)
	table := simulate.At(m, theta, n, m.DeclaredLaw(), noise.NewRandom(noise.Public(7).Stream(noise.Simulation)))
	text := strings.Builder{}
	text.WriteString("person,x,y\n")
	for person := 0; len(of) < n; person++ {
		for range min(1+person%most, n-len(of)) {
			i := len(of)
			y := table.Values[1][i]
			if far > 0 && i%far == 0 {
				y += 100
			}
			fmt.Fprintf(&text, "%d,%g,%g\n", person, table.Values[0][i], y)
			of = append(of, person)
		}
		if person < 2 {
			fmt.Fprintf(&text, "%d,?,2\n", person)
		}
	}
	text.WriteString("-1,1,\n")
	path := modelstest.File(t, "calls.csv", text.String())
	rows, _, err := privacy.ReadNewRows(path, m.Encoding)
	if err != nil {
		t.Fatal(err)
	}
	return rows, of
}

// Records of the model are in the cells as the edges say, and records far from it in the last one,
// also at θ in whitened coordinates. A unit counts once, far out if one of its rows is. A binomial share of 20,000
// records is 5 of its standard deviations off once in two million times.
func TestSurprisalsOfRecords(t *testing.T) {
	const n = 20000
	var edges []float64
	for _, unit := range []string{"rows_per_unit: 1", "id: person, rows_per_unit: 4, keep: first"} {
		m, theta := modelstest.Compile(t, "calls.yaml", strings.Replace(calls, "rows_per_unit: 1", unit, 1)), []float64{1, 0.5}
		q := NewSurprisals(1, event.AddRemove).At(m, theta, m.DeclaredLaw())
		if !slices.IsSorted(q.Edges) || !slices.Equal(q.Theta, theta) {
			t.Fatalf("%+v", q)
		}
		if edges == nil {
			edges = q.Edges
		} else if !floats.EqualApprox(q.Edges, edges, 1e-9) {
			t.Errorf("%s: edges %v, those of single rows %v", unit, q.Edges, edges)
		}
		mean, _ := q.Expected(m, func(int) []float64 { return theta }, m.DeclaredLaw(), 20, 2000)
		for _, far := range []int{0, 100} {
			rows, of := readCalls(t, m, theta, n, far)
			counts, err := privacy.CountPublic(rows, m.Encoding.RowsPerUnit, q.Placer(m, theta))
			if err != nil {
				t.Fatal(err)
			}
			got, last := counts[0], len(q.Edges)
			units, out := of[n-1]+1, map[int]bool{}
			for i, person := range of {
				if far > 0 && i%far == 0 {
					out[person] = true
				}
			}
			for c, x := range got {
				// counts have few surprisals, and ties are below an edge
				sd := math.Sqrt(n*mean[c]*(1-mean[c])*1.5) + 1
				if far == 0 && units == n && math.Abs(x-n*mean[c]) > 5*sd {
					t.Errorf("cell %d has %.0f records, want %.0f ± %.0f", c, x, n*mean[c], sd)
				}
			}
			if all := floats.Sum(got); math.Abs(all-float64(units)) > 1e-6*float64(units) {
				t.Errorf("%s: %g records in all cells, want %d", unit, all, units)
			}
			if math.Abs(got[last]-float64(len(out))) > 3 {
				t.Errorf("%s: %d records are far out, the last cell has %g", unit, len(out), got[last])
			}
		}
	}
}

// Surprisals cost what a Gaussian with the parameter costs, under both relations.
func TestPriceOfSurprisals(t *testing.T) {
	for _, rel := range []event.Relation{event.AddRemove, event.Substitute} {
		q := NewSurprisals(0.25, rel)
		if z := q.Events(rel)[0].(event.Gaussian).NoiseMultiplier; math.Abs(z-4) > 1e-9 {
			t.Errorf("%s: noise multiplier %g", rel, z)
		}
	}
	if (*Surprisals)(nil).Events(event.AddRemove) != nil {
		t.Error("no surprisals have a price")
	}
}

// Where the model predicts no number that can be calculated with, edges are finite or there are none, so
// that the release can be written.
func TestSurprisalsFarFromAllNumbers(t *testing.T) {
	m := modelstest.Compile(t, "calls.yaml", calls)
	for _, intercept := range []float64{-1e5, 50, 700, 800, 1e5} {
		q := NewSurprisals(1, event.AddRemove).At(m, []float64{intercept, 0.5}, m.DeclaredLaw())
		for _, x := range q.Edges {
			if !(math.Abs(x) <= math.MaxFloat64) {
				t.Errorf("intercept %g: edges %v", intercept, q.Edges)
			}
		}
		rows, _ := readCalls(t, m, []float64{1, 0.5}, 50, 0)
		if counts, err := privacy.CountPublic(rows, 1, q.Placer(m, q.Theta)); err != nil || len(counts[0]) != q.cells() {
			t.Errorf("intercept %g: counts %v: %v", intercept, counts, err)
		}
	}
}
