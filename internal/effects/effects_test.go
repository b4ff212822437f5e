package effects_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/effects"
	"d3p/internal/models/modelstest"
	"d3p/internal/predict"
)

const logistic = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    n: {type: integer, lower: 0, upper: 4}
    g: {type: category, levels: [a, b, c], reference: b}
    y: {type: binary, levels: ["0", "1"]}
model: {formula: y ~ x + g + n:g, family: bernoulli}
privacy: {neighbours: add_remove}
`

type source struct{ *rand.Rand }

func (s source) Normal() float64  { return s.NormFloat64() }
func (s source) Uniform() float64 { return s.Float64() }

// With one draw the average over the same simulated rows can be computed by hand, at every
// level and along a number; the contrast of a level is with the reference level.
func TestEffects(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", logistic)
	theta := make([]float64, m.P)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range theta {
		theta[i] = rng.NormFloat64()
	}
	at := make(map[string]float64)
	for i, name := range m.Names() {
		at[name] = theta[i]
	}
	const rows = 300 // more than a block
	law := m.DeclaredLaw()
	values := make([][]float64, 4)
	for i := range values {
		values[i] = make([]float64, rows)
	}
	law.Draw(values, source{rand.New(rand.NewPCG(5, 5))})
	mean := func(column int, value float64) (sum float64) {
		for b := range rows {
			v := [3]float64{values[0][b], values[1][b], values[2][b]}
			v[column] = value
			g := []string{"a", "b", "c"}[int(v[2])]
			center, by := m.Spec.Data.Column("n").Scale()
			eta := at["Intercept"] + at["b[x]"]*v[0] + at["b[g="+g+"]"] + at["b[n:g="+g+"]"]*(v[1]-center)/by
			sum += 1 / (1 + math.Exp(-eta)) / rows
		}
		return sum
	}
	posterior := predict.Posterior{S: 1, Prob: 0.9, Draw: func(dst []float64, _ int) { copy(dst, theta) }}
	list, err := effects.Of(m, law, posterior, effects.Config{Rows: rows, Values: 5}, source{rand.New(rand.NewPCG(5, 5))})
	if err != nil || len(list) != 3 {
		t.Fatalf("%d effects, %v", len(list), err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) < 1e-12) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	for column, e := range list {
		for _, p := range e.Points {
			near(e.Column+" at "+p.Label, p.Mean, mean(column, p.X))
		}
	}
	if x := list[0]; len(x.Points) != 5 || len(x.Changes) != 1 || x.Points[0].Label != "-1.96" || x.Changes[0].From != "-0.674" {
		t.Errorf("effect of x: %+v", x)
	}
	if n := list[1]; len(n.Points) != 5 || n.Points[4].Label != "4" {
		t.Errorf("effect of n: %+v", n)
	}
	g := list[2]
	if len(g.Changes) != 2 || g.Changes[0].From != "b" || g.Changes[0].To != "a" || g.Changes[1].To != "c" {
		t.Fatalf("contrasts of g: %+v", g.Changes)
	}
	near("contrast", g.Changes[1].Difference.Mean, mean(2, 2)-mean(2, 1))

	if _, err := effects.Of(m, law, posterior, effects.Config{Columns: []string{"y"}, Rows: 1, Values: 2}, source{rng}); err == nil || !strings.Contains(err.Error(), "y is no predictor") {
		t.Errorf("effect of the response: %v", err)
	}
}

// The levels of a category as response each have a probability; they add up to 1.
func TestEffectsOnLevels(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", strings.NewReplacer("y: {type: binary, levels: [\"0\", \"1\"]}", "y: {type: ordinal, levels: [low, mid, high]}", "bernoulli", "cumulative").Replace(logistic))
	posterior := predict.Posterior{S: 2, Prob: 0.9, Draw: func(dst []float64, s int) {
		for i := range dst {
			dst[i] = float64(s+1) / 4
		}
	}}
	list, err := effects.Of(m, m.DeclaredLaw(), posterior, effects.Config{Columns: []string{"x"}, Rows: 50, Values: 3}, source{rand.New(rand.NewPCG(5, 5))})
	if err != nil || len(list) != 3 || list[2].Outcome != "y=high" {
		t.Fatalf("%+v, %v", list, err)
	}
	for k := range list[0].Points {
		if sum := list[0].Points[k].Mean + list[1].Points[k].Mean + list[2].Points[k].Mean; math.Abs(sum-1) > 1e-12 {
			t.Errorf("the probabilities at %s add up to %v", list[0].Points[k].Label, sum)
		}
	}
}
