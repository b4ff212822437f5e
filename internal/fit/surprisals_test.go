package fit_test

import (
	"math"
	"slices"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy/noise"
)

// A fit of counts buys how many records are far from its model: as many as there are. That is the last
// entry of the ledger, and a fit whose release is still to be written
// asks nothing again.
func TestRecordsFarOutAreCounted(t *testing.T) {
	m := modelstest.Compile(t, "calls.yaml", `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 5000}
  columns:
    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    y: {type: integer, lower: 0, upper: 200}
model: {formula: y ~ x, family: poisson}
`)
	for _, far := range []int{0, 100} {
		table := simulate.At(m, []float64{1, 0.5}, 5000, m.DeclaredLaw(), noise.NewRandom(noise.Public(3).Stream(noise.Simulation)))
		for i := range far {
			table.Values[1][50*i] = min(200, 60+table.Values[1][50*i])
		}
		s := &study{model: m, data: writeTable(t, table)}
		p, result := s.withTable1(t, plan.Config{Epsilon: 8})
		q := p.Surprisals
		if got := q.Counts[len(q.Edges)]; q.Noise > 5 || math.Abs(got-float64(far)) > 5*q.Noise {
			t.Errorf("%.1f ± %.1f records are far out, want %d", got, q.Noise, far)
		}
		if again := s.endsWith(t, "surprisals", p, result); !slices.Equal(again.Surprisals.Counts, q.Counts) {
			t.Errorf("a resumed fit has the counts %v, not %v", again.Surprisals.Counts, q.Counts)
		}
	}
}
