package fit_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// Side queries measure the iterates that the fit keeps, also of a fit in whitened coordinates:
// loss and accuracy are those that the records of the file have at the declared coefficients.
// All are one entry of the ledger, which has the planned event then, and a fit whose release
// is still to be written asks nothing again.
func TestSideQueriesMeasureIterates(t *testing.T) {
	m := modelstest.Compile(t, "correlated.yaml", correlated)
	l := m.DeclaredLaw()
	l.Correlation = []float64{1, 0.95, 0.95, 0, 0.95, 1, 0.95, 0, 0.95, 0.95, 1, 0, 0, 0, 0, 1}
	rng := noise.NewRandom(noise.Public(3).Stream(noise.Simulation))
	s := &study{model: m, data: writeTable(t, simulate.At(m, []float64{0.3, 3, -2, 1}, 2000, l, rng))}
	p := s.plan(t, plan.Config{Epsilon: 300, Trace: "loss,accuracy,classes@0.5", Steps: 105})
	if err := p.Learn(l); err != nil || !p.Model().Rotated() {
		t.Fatalf("the fit is not in whitened coordinates: %v", err)
	}
	result, err := fit.Run(context.Background(), p, s.curator(t, p, 1, privacy.Ledger{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if entries := result.Spent.Entries; len(entries) != 2 || entries[1].Steps != 1 || !event.Equal(result.Spent.Event(), p.MechanismEvent(p.NoiseMultiplier)) {
		t.Fatalf("the ledger has %v", entries)
	}
	text, err := os.ReadFile(s.data)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	trace, measured := result.Posterior.Trace, p.SideQueries.Measured()
	if len(measured) != 2+2*10 {
		t.Fatalf("%d values", len(measured))
	}
	for _, v := range measured {
		want, records := 0.0, 0.0
		var b []float64
		if v.Step > 0 {
			i := slices.Index(trace.Steps, v.Step)
			b = trace.Mean[i*4 : i*4+4]
		}
		for _, line := range lines[1:] {
			y, eta := line[slices.Index(lines[0], "y")], 0.0
			if records++; v.Step == 0 {
				if y == v.Level {
					want++
				}
				continue
			}
			eta = b[0]
			for j, name := range []string{"a", "d", "c"} {
				x, err := strconv.ParseFloat(line[slices.Index(lines[0], name)], 64)
				if err != nil {
					t.Fatal(err)
				}
				eta += b[1+j] * (x - 20) / 20
			}
			if y == "0" {
				eta = -eta
			}
			switch {
			case v.Quantity == "loss":
				want += min(math.Log1p(math.Exp(-eta)), math.Log(2)+2) / 2000
			case eta > 0:
				want += 1. / 2000
			}
		}
		if v.NoiseSD > 0.01*max(1, v.Value) || math.Abs(v.Value-want) > 6*v.NoiseSD {
			t.Errorf("%s %s after step %d is %.4g ± %.2g, want %.4g", v.Quantity, v.Level, v.Step, v.Value, v.NoiseSD, want)
		}
	}

	checkpoint, err := result.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	again, err := fit.Resume(context.Background(), checkpoint, m, s.curator(t, p, 2, result.Spent), nil)
	if err != nil || len(again.Spent.Entries) != 2 || !slices.Equal(again.Posterior.Plan.SideQueries.Measured(), measured) {
		t.Errorf("a resumed fit spent %v: %v", again.Spent.Entries, err)
	}
}
