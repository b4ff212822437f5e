package score

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sensitivity"
	"d3p/internal/settings"
	"d3p/internal/stattest"
)

// traced are the quantities that a trace may buy of m.
func traced(m *models.Model) (quantities []string) {
	for _, q := range settings.TraceQuantities() {
		if _, err := NewIterate(m, []string{q}, nil); err == nil {
			quantities = append(quantities, q)
		}
	}
	return quantities
}

// attacked are examples and random models of which a trace may be bought, without the largest
// networks.
func attacked(t *testing.T) []sensitivity.Model {
	list := sensitivity.Configs(t, "../../configs")
	rng := rand.New(rand.NewPCG(8, 17))
	for i := range 40 {
		list = append(list, sensitivity.Generated(t, i, rng))
	}
	return slices.DeleteFunc(list, func(m sensitivity.Model) bool { return m.Tape.P > 1<<12 || len(traced(m.Compiled)) == 0 })
}

// No record moves a table of a trace by more than its weight, for any record, other
// records, place in the table and iterate.
func TestNoRecordMovesATraceByMore(t *testing.T) {
	stattest.SkipNumerics(t)
	list, counted := attacked(t), 0
	seed, cases := uint64(20261123), 25
	if soak, err := strconv.Atoi(os.Getenv("D3P_SOAK")); err == nil {
		seed, cases = rand.Uint64(), soak*cases
	}
	for k, m := range list {
		quantities := traced(m.Compiled)
		open := func(theta []float64) (privacy.Placer, error) { return NewIterate(m.Compiled, quantities, theta) }
		p, err := sensitivity.AttackPlacedCounts(m, open, rand.New(rand.NewPCG(seed, uint64(k))), func(p sensitivity.PlacedResult) bool {
			return p.Cases < cases
		})
		if err != nil {
			t.Errorf("seed %d: %s: %s: %v", seed, m.Name, strings.Join(quantities, ", "), err)
		}
		if p.Counted > 10 {
			counted++
		}
	}
	if len(list) < 40 || counted < len(list)*3/4 {
		t.Errorf("of %d models the record was counted for %d", len(list), counted)
	}
}

// No record moves the counts of surprisals by more than its weight.
func TestNoRecordMovesSurprisalsByMore(t *testing.T) {
	stattest.SkipNumerics(t)
	seed, cases := uint64(20261128), 25
	if soak, err := strconv.Atoi(os.Getenv("D3P_SOAK")); err == nil {
		seed, cases = rand.Uint64(), soak*cases
	}
	tried, counted, several, far := 0, 0, 0, 0 // models, also those whose units have several rows, and predictors
	for k, m := range attacked(t) {
		if m.Tape.AuxRecord > 0 {
			continue
		}
		tried++
		q := &Surprisals{Noise: 1, Edges: []float64{-1, 0, 1, 2, 10}}
		for _, f := range m.Compiled.Encoding.Fields {
			if isNumber(f) { // some of their rows are far out, others are not
				q.Far = append(q.Far, FarPredictor{f.Column, 0, 0.2})
				far++
			}
		}
		open := func(theta []float64) (privacy.Placer, error) { return q.Placer(m.Compiled, theta), nil }
		p, err := sensitivity.AttackPlacedCounts(m, open, rand.New(rand.NewPCG(seed, uint64(k))), func(p sensitivity.PlacedResult) bool {
			return p.Cases < cases
		})
		if err != nil {
			t.Errorf("seed %d: %s: %v", seed, m.Name, err)
		}
		if p.Counted > 10 {
			counted++
			if m.Encoding.RowsPerUnit > 1 {
				several++
			}
		}
	}
	if tried < 20 || counted < tried*3/4 || several < 5 || far < 10 {
		t.Errorf("of %d models the record was counted for %d, of which %d have several rows per unit; %d predictors", tried, counted, several, far)
	}
}

// The surprisal of a row has the same bits wherever the row is among others: one more record moves no other to
// another cell.
func TestSurprisalsAreOfTheirRowsAlone(t *testing.T) {
	stattest.SkipNumerics(t)
	const n = 900 // two batches and a part of one
	rng, compared := rand.New(rand.NewPCG(9, 30)), 0
	for _, one := range attacked(t) {
		m := one.Compiled
		if m.Likelihood.AuxRecord > 0 {
			continue
		}
		theta, k := make([]float64, m.P), m.Encoding.K
		for i := range theta {
			theta[i] = rng.NormFloat64()
		}
		rows := simulate.Records(m, theta, n, m.DeclaredLaw(), noise.NewRandom(noise.Public(3).Stream(noise.Simulation)))
		all := surprisals(m, theta, rows)
		for _, from := range []int{1, 2, 5, 8, 399, n - 1} {
			for i, x := range surprisals(m, theta, rows[from*k:]) {
				if math.Float64bits(x) != math.Float64bits(all[from+i]) {
					t.Fatalf("%s: without the first %d rows the surprisal of row %d is %.17g, not %.17g", one.Name, from, from+i, x, all[from+i])
				}
			}
		}
		compared++
	}
	if compared < 20 {
		t.Errorf("%d models", compared)
	}
}
