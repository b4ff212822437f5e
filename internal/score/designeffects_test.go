package score

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sensitivity"
	"d3p/internal/stattest"
)

// Independent rows have design effects of 1, rows that are all the same that of their number, but for what bounds cut,
// whatever the law of the columns is; one that is twice too wide shows in the information.
func TestDesignEffectsOfRows(t *testing.T) {
	const units = 3000
	m, theta := modelstest.Compile(t, "calls.yaml", strings.Replace(calls, "rows_per_unit: 1", "id: person, rows_per_unit: 4, keep: first", 1)), []float64{1, 0.5}
	for _, c := range []struct {
		same, narrow bool
		effect, ofX  float64 // V, and the information about the slope
		tolerance    float64 // of both logs
	}{
		{effect: 1, ofX: 1, tolerance: 0.1},
		{same: true, effect: 4.5, ofX: 1, tolerance: 0.15},
		{narrow: true, effect: 1, ofX: 0.2, tolerance: 0.2}, // E[x² exp(x/2)] at sd 1/2, 0.274, over that at sd 1, 1.4
	} {
		law := m.DeclaredLaw()
		table := simulate.At(m, theta, 4*units, law, noise.NewRandom(noise.Public(7).Stream(noise.Simulation)))
		if c.narrow {
			m := modelstest.Compile(t, "calls.yaml", strings.NewReplacer("rows_per_unit: 1", "id: person, rows_per_unit: 4, keep: first", "by: 1", "by: 0.5").Replace(calls))
			table = simulate.At(m, []float64{1, 0.25}, 4*units, m.DeclaredLaw(), noise.NewRandom(noise.Public(7).Stream(noise.Simulation)))
		}
		text := strings.Builder{}
		text.WriteString("person,x,y\n")
		for i := range 4 * units {
			row := i
			if c.same {
				row = i / 4 * 4
			}
			fmt.Fprintf(&text, "%d,%g,%g\n", i/4, table.Values[0][row], table.Values[1][row])
		}
		path := modelstest.File(t, "calls.csv", text.String())
		rows, _, err := privacy.ReadNewRows(path, m.Encoding)
		if err != nil {
			t.Fatal(err)
		}
		q := NewDesignEffects(m.P, 1, event.AddRemove).At(m, theta, law, units)
		counts, err := privacy.CountPublic(rows, 4, q.Placer(m))
		if err != nil {
			t.Fatal(err)
		}
		q = q.With(counts)
		bought := *law
		if bought.Rows = q.Shares(); math.Abs(bought.RowsPerUnit()-4) > 1e-6 {
			t.Fatalf("shares of units by number of rows %v", bought.Rows)
		}
		q.Estimate(m, &bought, units)
		for j, e := range q.Effects {
			if math.Abs(math.Log(e.Value/c.effect)) > c.tolerance || !(e.LogSD < 0.08) || q.Open[j] != e.LogSD { // the declared parameters are those of the fit
				t.Errorf("%+v: design effect of parameter %d: %+v", c, j, e)
			}
		}
		if e := q.Effects[1]; math.Abs(math.Log(e.Information/c.ofX)) > c.tolerance || !(e.InformationSD < 0.05) {
			t.Errorf("%+v: information %+v", c, e)
		}
	}
}

// Much noise leaves design effects open: by 0.9 if their logs are equally likely from 1/4 to 6.
func TestUnknownDesignEffects(t *testing.T) {
	m, theta := modelstest.Compile(t, "calls.yaml", strings.Replace(calls, "rows_per_unit: 1", "id: person, rows_per_unit: 4, keep: first", 1)), []float64{1, 0.5}
	q := NewDesignEffects(m.P, 1e-3, event.AddRemove).At(m, theta, m.DeclaredLaw(), 100)
	q.Rows = []float64{1, 2, 3, 4}
	q.Estimate(m, m.DeclaredLaw(), 100)
	for _, e := range q.Effects {
		if !(e.LogSD > 0.7 && e.Value < 3 && e.Value > 1) {
			t.Errorf("%+v", e)
		}
	}
}

// Squares that hardly differ, as those of a common outcome's intercept, are measured, too: a bound below them all would
// be as full under any information.
func TestInformationOfACommonOutcome(t *testing.T) {
	m := modelstest.Compile(t, "yes.yaml", strings.NewReplacer("rows_per_unit: 1", "id: person, rows_per_unit: 4, keep: first",
		"type: integer, lower: 0, upper: 500", "type: binary", "family: poisson", "family: bernoulli").Replace(calls))
	theta, l := []float64{0.2, 0}, m.DeclaredLaw()
	q := NewDesignEffects(m.P, 1, event.AddRemove).At(m, theta, l, 3000)
	q.Rows = []float64{0, 0, 0, 3000}
	bought := *l
	bought.Rows = q.Shares()
	for j, s := range simulatedSquares(m, theta, &bought) {
		mean, _ := bounded(s.aloneBy(1, q.Alone[j].Row), 1/q.Alone[j].Bound)
		q.Together[j].Sum, q.Apart[j].Sum, q.Alone[j].Sum = 1500, 1500, 3000*mean
	}
	q.Estimate(m, &bought, 3000)
	for j, e := range q.Effects {
		if math.Abs(math.Log(e.Information)) > 0.1 || !(e.InformationSD < 0.1) {
			t.Errorf("information of parameter %d: %+v", j, e)
		}
	}
}

// A place at which no simulated unit has finite gradients leaves them open, too, in finite numbers: they are of a file.
func TestDesignEffectsWhereNothingIsFinite(t *testing.T) {
	m, theta := modelstest.Compile(t, "calls.yaml", strings.Replace(calls, "rows_per_unit: 1", "id: person, rows_per_unit: 4, keep: first", 1)), []float64{2000, 0.5}
	q := NewDesignEffects(m.P, 1, event.AddRemove).At(m, theta, m.DeclaredLaw(), 100)
	q.Rows = []float64{1, 2, 3, 4}
	q.Estimate(m, m.DeclaredLaw(), 100)
	if _, err := json.Marshal(q); err != nil {
		t.Fatal(err)
	}
	for _, e := range q.Effects {
		if !(e.LogSD > 0.7 && e.InformationSD > 1) {
			t.Errorf("%+v", e)
		}
	}
}

// Design effects cost what a Gaussian with the parameter costs, under both relations.
func TestPriceOfDesignEffects(t *testing.T) {
	for _, rel := range []event.Relation{event.AddRemove, event.Substitute} {
		q := NewDesignEffects(3, 0.25, rel)
		if z := q.Events(rel)[0].(event.Gaussian).NoiseMultiplier; math.Abs(z-4) > 1e-9 {
			t.Errorf("%s: noise multiplier %g", rel, z)
		}
	}
	if (*DesignEffects)(nil).Events(event.AddRemove) != nil {
		t.Error("no design effects cost something")
	}
}

// No record moves a table of design effects by more than 1.
func TestNoRecordMovesDesignEffectsByMore(t *testing.T) {
	stattest.SkipNumerics(t)
	seed, cases := uint64(20261130), 25
	if soak, err := strconv.Atoi(os.Getenv("D3P_SOAK")); err == nil {
		seed, cases = rand.Uint64(), soak*cases
	}
	counted := 0
	for k, m := range attacked(t) {
		if m.Tape.AuxRecord > 0 || m.Encoding.RowsPerUnit <= 1 {
			continue
		}
		rng := rand.New(rand.NewPCG(seed, uint64(k)))
		q := NewDesignEffects(m.Compiled.P, 1, event.AddRemove)
		for _, list := range [][]Squares{q.Together, q.Apart, q.Alone} {
			for j := range list {
				list[j].Row, list[j].Bound = math.Exp(3*rng.NormFloat64()), math.Exp(3*rng.NormFloat64())
			}
		}
		open := func(theta []float64) (privacy.Placer, error) {
			of := *q
			of.Theta = theta
			return of.Placer(m.Compiled), nil
		}
		p, err := sensitivity.AttackPlacedCounts(m, open, rng, func(p sensitivity.PlacedResult) bool { return p.Cases < cases })
		if err != nil {
			t.Errorf("seed %d: %s: %v", seed, m.Name, err)
		}
		if p.Counted > 10 {
			counted++
		}
	}
	if counted < 5 {
		t.Errorf("the record was counted for %d models", counted)
	}
}
