package score

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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

// readCalls are n records that m draws at theta, every far-th one of them with 100 more calls, and three
// that cannot be read.
func readCalls(t *testing.T, m *models.Model, theta []float64, n, far int) *privacy.Rows {
	t.Helper()
	table := simulate.At(m, theta, n, m.DeclaredLaw(), noise.NewRandom(noise.Public(7).Stream(noise.Simulation)))
	text := strings.Builder{}
	text.WriteString("x,y\n")
	for i := range n {
		y := table.Values[1][i]
		if far > 0 && i%far == 0 {
			y += 100
		}
		fmt.Fprintf(&text, "%g,%g\n", table.Values[0][i], y)
	}
	text.WriteString("1,\n?,2\n,\n")
	path := filepath.Join(t.TempDir(), "calls.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, _, err := privacy.ReadNewRows(path, m.Encoding)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Records of the model are in the cells as the edges say, and records far from it in the last one,
// also at θ in whitened coordinates. A binomial share of 20,000 records is 5 of its standard deviations
// off once in two million times.
func TestSurprisalsOfRecords(t *testing.T) {
	const n = 20000
	m, theta := modelstest.Compile(t, "calls.yaml", calls), []float64{1, 0.5}
	q := NewSurprisals(1, event.AddRemove).At(m, theta, m.DeclaredLaw())
	if !slices.IsSorted(q.Edges) || !slices.Equal(q.Theta, theta) {
		t.Fatalf("%+v", q)
	}
	mean, _ := q.Expected(m, func(int) []float64 { return theta }, m.DeclaredLaw(), 20, 2000)
	for _, far := range []int{0, 100} {
		counts, err := privacy.CountPublic(readCalls(t, m, theta, n, far), 1, q.Placer(m, theta))
		if err != nil {
			t.Fatal(err)
		}
		got, all, last := counts[0], 0.0, len(q.Edges)
		for c, x := range got {
			all += x
			// counts have few surprisals, and ties are below an edge
			sd := math.Sqrt(n*mean[c]*(1-mean[c])*1.5) + 1
			if far == 0 && math.Abs(x-n*mean[c]) > 5*sd {
				t.Errorf("cell %d has %.0f records, want %.0f ± %.0f", c, x, n*mean[c], sd)
			}
		}
		if all != n {
			t.Errorf("%g records in all cells", all)
		}
		if far == 0 && got[last] > 3 || far > 0 && math.Abs(got[last]-n/float64(far)) > 3 {
			t.Errorf("every %d-th record is far out, the last cell has %g", far, got[last])
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
		if counts, err := privacy.CountPublic(readCalls(t, m, []float64{1, 0.5}, 50, 0), 1, q.Placer(m, q.Theta)); err != nil || len(counts[0]) != len(q.Edges)+1 {
			t.Errorf("intercept %g: counts %v: %v", intercept, counts, err)
		}
	}
}
