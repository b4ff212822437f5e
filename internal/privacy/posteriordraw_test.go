package privacy_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// locationModel has one parameter; its score is that of a beta divergence.
func locationModel(t *testing.T, rows int, density string) *models.Model {
	t.Helper()
	unit := fmt.Sprintf("{entity: person, id: id, rows_per_unit: %d}", rows)
	if rows == 1 {
		unit = "{entity: person, rows_per_unit: 1}"
	}
	return modelstest.Compile(t, "location.yaml", `d3p: 1
data:
  unit: `+unit+`
  rows: {upper_bound: 20}
  columns:
    x: {type: real, lower: -9, upper: 9, scale: {center: 0, by: 1}}
    y: {type: real, lower: -9, upper: 9, scale: {center: 0, by: 1}}
    z: {type: binary}
likelihood: {divergence: beta, beta: 1.5}
core:
  params:
    a: normal(0, 2)
  rows:
    observe:
      `+density+`
`)
}

func drawsFrom(t *testing.T, m *models.Model, text string, rel event.Relation, root noise.Root) *privacy.Curator {
	t.Helper()
	c, err := privacy.NewCurator(privacy.CuratorConfig{
		Table: privacy.NewTable(privacy.TableConfig{
			Data: writeFile(t, "location.csv", text), Encoding: m.Encoding, Precision: privacy.Float64, Spare: m.Likelihood.K - m.Likelihood.K0, Root: root,
		}),
		Engine: cpu.New(cpu.Options{Threads: 1}), Root: root, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Relation: rel,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func posteriorDraw(t *testing.T, m *models.Model) privacy.PosteriorDraw {
	t.Helper()
	bound, err := m.ScoreRange()
	if err != nil {
		t.Fatal(err)
	}
	return privacy.PosteriorDraw{Purpose: "fit", Model: m, Epsilon: 1, Range: bound, Chains: 1, Warmup: 150, Kept: 30}
}

// normalise turns log densities on an even grid into probabilities.
func normalise(log []float64) []float64 {
	most, sum := math.Inf(-1), 0.0
	for _, l := range log {
		most = math.Max(most, l)
	}
	p := make([]float64, len(log))
	for i, l := range log {
		p[i] = math.Exp(l - most)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// line has one point for each number.
func line(numbers []float64) (points [][]float64) {
	for _, x := range numbers {
		points = append(points, []float64{x})
	}
	return points
}

func evenGrid(low, high float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = low + (high-low)*float64(i)/float64(n-1)
	}
	return x
}

// A unit changes the probability of no set of draws by more than a factor of e^ε, under any
// relation, with several rows too, and the worst unit comes near it.
func TestOneUnitChangesTheDrawByItsPrice(t *testing.T) {
	grid := evenGrid(-12, 12, 2001)
	for _, density := range []string{"y: normal(a, 0.5)", "y: normal(a * x, 2)", "y: laplace(a, 0.3)", "y: student_t(3, a, 0.2)", "z: bernoulli_logit(20 * a)"} {
		for _, rows := range []int{1, 2} {
			for _, rel := range event.Relations() {
				density := strings.Replace(density, "bernoulli_logit(20 * a)", "bernoulli(logits=20 * a)", 1)
				m := locationModel(t, rows, density)
				mechanism := posteriorDraw(t, m)
				law := func(units ...string) []float64 {
					text := "x,y,z,id\n"
					for i, unit := range units {
						for range rows {
							text += fmt.Sprintf("%s,%d\n", unit, i)
						}
					}
					if rows == 1 {
						text = "x,y,z\n" + strings.Join(units, "\n") + "\n"
					}
					log, err := privacy.PosteriorDensity(drawsFrom(t, m, text, rel, noise.Insecure(1)), mechanism, line(grid))
					if err != nil {
						t.Fatal(err)
					}
					return normalise(log)
				}
				worst := 0.0
				base := []string{"1,0,1", "-9,3,0"}
				for _, other := range []string{"1,0,0", "9,-9,1", "-9,-9,0", "0,9,1", "3,9,0", "9,9,1"} {
					with := append([]string{other}, base...)
					without := base
					if rel != event.AddRemove { // a null record is one that is rejected
						without = append([]string{map[event.Relation]string{event.Substitute: "9,0.1,1", event.ZeroOut: ",,"}[rel]}, base...)
					}
					p, q := law(with...), law(without...)
					for i := range p {
						worst = math.Max(worst, math.Abs(math.Log(p[i]/q[i])))
					}
				}
				if worst > mechanism.Epsilon*(1+1e-9) {
					t.Errorf("%s, %d rows, %s: a unit changes the law by e^%.6g, the price is %g", density, rows, rel, worst, mechanism.Epsilon)
				}
				if worst < 0.3*mechanism.Epsilon {
					t.Errorf("%s, %d rows, %s: no unit changes the law by more than e^%.3g: the test sees nothing", density, rows, rel, worst)
				}
			}
		}
	}
}

// The weight leaves room for what rounding changes in a sum of ten million scores.
func TestWeightLeavesRoomForRounding(t *testing.T) {
	m := locationModel(t, 1, "x: normal(a, 1)")
	draw := posteriorDraw(t, m)
	few := draw.Weight(event.AddRemove)
	m.Spec.Data.Rows.UpperBound.V = 1e7
	if part := draw.Weight(event.AddRemove) / few; math.Abs(part-1/1.0222) > 1e-4 { // 1e14 · 2^-52 = .0222
		t.Errorf("the weight is %.4f of that for 20 records, want .978", part)
	}
}

// The draw is charged before it is made, and refused beyond the budget.
func TestPosteriorDrawIsCharged(t *testing.T) {
	m := locationModel(t, 1, "y: normal(a, 0.5)")
	c := drawsFrom(t, m, "x,y,z\n0,1,1\n", event.AddRemove, noise.Insecure(1))
	mechanism := posteriorDraw(t, m)
	if _, err := c.DrawPosterior(context.Background(), mechanism); err != nil {
		t.Fatal(err)
	}
	entries := c.Ledger().Entries
	if len(entries) != 1 || entries[0].Event != event.Event(event.EpsilonDelta{Epsilon: 1}) {
		t.Errorf("the ledger has %v", entries)
	}
	var over *privacy.BudgetError
	if _, err := c.DrawPosterior(context.Background(), mechanism); !errors.As(err, &over) {
		t.Errorf("a second draw: %v, want a *BudgetError", err)
	}
}

// TestChainsWithoutDiagnosis: chains without an R-hat are no error, which could
// tell of the records.
func TestChainsWithoutDiagnosis(t *testing.T) {
	m := locationModel(t, 1, "y: normal(a, 0.5)")
	private, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer private.Close()
	root := noise.Insecure(1)
	c, err := privacy.NewCurator(privacy.CuratorConfig{
		Table:  privacy.NewTable(privacy.TableConfig{Data: writeFile(t, "location.csv", "x,y,z\n0,1,1\n"), Encoding: m.Encoding, Precision: privacy.Float64, Spare: m.Likelihood.K - m.Likelihood.K0, Root: root}),
		Engine: cpu.New(cpu.Options{Threads: 1}), Root: root, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Relation: event.AddRemove, Private: private,
	})
	if err != nil {
		t.Fatal(err)
	}
	mechanism := posteriorDraw(t, m)
	mechanism.Kept = 2 // a half of one draw has no variance
	if _, err := c.DrawPosterior(context.Background(), mechanism); err != nil {
		t.Fatal(err)
	}
	text, err := private.ReadFile(privacy.SamplerCheckName)
	if err != nil || !strings.Contains(string(text), `"rhat":null`) {
		t.Errorf("%s: %s, %v", privacy.SamplerCheckName, text, err)
	}
}

// Progress is shown of whole chains: a chain near a normal posterior, as the records decide, skips
// most of its warm-up.
func TestProgressOfADrawIsOfItsChains(t *testing.T) {
	m := locationModel(t, 1, "x: normal(a, 1)")
	draw := posteriorDraw(t, m)
	draw.Chains, draw.Warmup = 2, 300
	var shown []int
	draw.Progress = func(done int) { shown = append(shown, done) }
	c := drawsFrom(t, m, "x,y,z\n1,0,1\n", event.AddRemove, noise.Insecure(3))
	if _, err := c.DrawPosterior(context.Background(), draw); err != nil || !slices.Equal(shown, []int{330, 660}) {
		t.Errorf("progress %v, want 330 and 660 (%v)", shown, err)
	}
}
