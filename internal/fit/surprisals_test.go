package fit_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
)

// A fit of counts buys how many records are far from its model: as many as there are. That is the last
// entry of the ledger, and a fit whose release is still to be written
// asks nothing again.
func TestRecordsFarOutAreCounted(t *testing.T) {
	m, err := models.Read("calls.yaml", []byte(`d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 5000}
  columns:
    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    y: {type: integer, lower: 0, upper: 200}
model: {formula: y ~ x, family: poisson}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, far := range []int{0, 100} {
		table := simulate.At(m, []float64{1, 0.5}, 5000, m.DeclaredLaw(), noise.NewRandom(noise.Public(3).Stream(noise.Simulation)))
		for i := range far {
			table.Values[1][50*i] = min(200, 60+table.Values[1][50*i])
		}
		s := &study{model: m, data: writeTable(t, table)}
		p := s.plan(t, plan.Config{Epsilon: 8, Table1: settings.Auto})
		c := s.curator(t, p, 1, privacy.Ledger{})
		c.Columns(privacy.NewColumns(privacy.TableConfig{Data: s.data, Encoding: m.Encoding, Root: noise.Insecure(1)}))
		if err := fit.Buy(p, c, nil); err != nil {
			t.Fatal(err)
		}
		result, err := fit.Run(context.Background(), p, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		entries, q := result.Spent.Entries, p.Surprisals
		if last := entries[len(entries)-1]; last.Purpose != "surprisals" || !event.Equal(last.Event, p.After()[0]) {
			t.Fatalf("the ledger ends with %v", last)
		}
		if got := q.Counts[len(q.Edges)]; q.Noise > 5 || math.Abs(got-float64(far)) > 5*q.Noise {
			t.Errorf("%.1f ± %.1f records are far out, want %d", got, q.Noise, far)
		}
		checkpoint, err := result.Checkpoint()
		if err != nil {
			t.Fatal(err)
		}
		again, err := fit.Resume(context.Background(), checkpoint, m, s.curator(t, p, 2, result.Spent), nil)
		if err != nil || len(again.Spent.Entries) != len(entries) || !slices.Equal(again.Posterior.Plan.Surprisals.Counts, q.Counts) {
			t.Errorf("a resumed fit spent %v: %v", again.Spent.Entries, err)
		}
	}
}
