package fit_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models/data"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/simulate"
	"d3p/internal/models/source"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/score"
	"d3p/internal/stattest"
)

// Four rows of a person that are all the same say as much as one: intervals are twice as wide as those of four
// independent rows, and each as wide as without privacy. The design effects that tell are the last entry of the ledger, and a fit whose
// release is still to be written asks nothing again.
func TestIntervalsOfRowsThatAreAlike(t *testing.T) {
	stattest.SkipNumerics(t)
	const persons, rows = 5000, 4
	m := modelstest.Compile(t, "visits.yaml", `d3p: 1
data:
  unit: {entity: person, id: person, rows_per_unit: 4}
  rows: {public: 5000}
  columns:
    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    y: {type: binary}
model: {formula: y ~ x, family: bernoulli}
`)
	for _, same := range []bool{false, true} {
		table := simulate.At(m, []float64{0.3, 0.5}, persons*rows, m.DeclaredLaw(), noise.NewRandom(noise.Public(3).Stream(noise.Simulation)))
		person := make([]float64, persons*rows)
		id := &data.Column{Name: source.Value[string]{V: "person"}, Type: source.Value[string]{V: data.Integer}}
		for i := range person {
			person[i] = float64(i / rows)
			for _, column := range table.Values {
				if same {
					column[i] = column[i/rows*rows]
				}
			}
		}
		table.Columns, table.Values = append(table.Columns, id), append(table.Values, person)
		s := &study{model: m, data: writeTable(t, table)}
		p, result := s.withTable1(t, plan.Config{Epsilon: 3})
		post, independent := result.Posterior, float64(persons*rows)
		sd := make([]float64, 2)
		post.SD(sd)
		if same {
			independent = persons
		}
		for j, mean := range post.Mean {
			without := math.Sqrt(1 / (independent * []float64{0.233, 0.21}[j])) // E[p(1-p)] and E[x² p(1-p)], which is whitened here
			if ratio := sd[j] / without; ratio < 0.85 || ratio > 1.35 || math.Abs(mean-[]float64{0.3, 0.5}[j]) > 3.5*sd[j] {
				t.Errorf("same %v: parameter %d is %.3f ± %.4f, without privacy ± %.4f", same, j, mean, sd[j], without)
			}
		}
		if same {
			s.resumesAfterSurprisals(t, p, result)
		}
		if again := s.endsWith(t, "design effects", p, result); !slices.Equal(again.DesignEffects.Rows, p.DesignEffects.Rows) {
			t.Errorf("a resumed fit has units of %v rows, not %v", again.DesignEffects.Rows, p.DesignEffects.Rows)
		}
	}
}

// resumesAfterSurprisals checks that a fit which failed between its last two purchases makes the last one alone when
// it is resumed.
func (s *study) resumesAfterSurprisals(t *testing.T, p *plan.Plan, result fit.Result) {
	t.Helper()
	checkpoint, err := result.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	failed, spent := *checkpoint.Plan, result.Spent
	spent.Entries = slices.Clone(spent.Entries[:len(spent.Entries)-1])
	failed.Surprisals = &score.Surprisals{Noise: 1, Counts: []float64{7}}
	failed.DesignEffects = score.NewDesignEffects(p.Latent, 1, p.Neighbours)
	failed.DesignEffects.Noise = p.DesignEffects.Noise
	checkpoint.Plan = &failed
	again, err := fit.Resume(context.Background(), checkpoint, s.model, s.curator(t, p, 2, spent), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !event.Equal(again.Spent.Event(), result.Spent.Event()) {
		t.Errorf("a resumed fit spent %v", again.Spent.Entries)
	}
	if q := again.Posterior.Plan; !q.DesignEffects.Known() || q.Surprisals.Counts[0] != 7 {
		t.Errorf("a resumed fit bought %+v and %+v", q.DesignEffects, q.Surprisals)
	}
}
