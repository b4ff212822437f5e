package plan_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"d3p/internal/fit/fittest"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/graph"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy/noise"
	"d3p/internal/table1"
)

const boundedModel = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 2000}
  columns:
    x: {type: real, lower: -1, upper: 3, scale: {center: 0.5, by: 2}}
    z: {type: real, lower: -2, upper: 1, scale: {center: 0, by: 1}}
    g: {type: category, levels: [a, b, c]}
    y: {type: binary, levels: ["0", "1"]}
likelihood: {divergence: beta, beta: 1.5}
model:
  formula: y ~ 1 + x + z
  family: bernoulli
`

// No record and no parameters have a longer gradient than the bound, and some are nearly as
// long: a search over both, in declared coordinates and in those of work, starts from many
// places. The bound is looser where the units of levels differ.
func TestNoGradientExceedsItsBound(t *testing.T) {
	for _, c := range []struct {
		name  string
		edits []string
		least float64 // share of the bound that the search reaches
	}{
		{"numbers", nil, 0.98},
		{"levels", []string{"1 + x + z", "1 + x + g"}, 0.98},
		{"products", []string{"1 + x + z", "1 + x + g + x:g", "beta: 1.5", "beta: 1.2"}, 0.9},
		{"no level", []string{"1 + x + z", "0 + x + z", "beta: 1.5", "beta: 3"}, 0.98},
		{"probit", []string{"bernoulli\n", "bernoulli\n  link: probit\n"}, 0.97},
		{"probit of small beta", []string{"bernoulli\n", "bernoulli\n  link: probit\n", "beta: 1.5", "beta: 1.1"}, 0.9},
		{"cloglog", []string{"bernoulli\n", "bernoulli\n  link: cloglog\n"}, 0.97},
		{"cloglog of large beta", []string{"bernoulli\n", "bernoulli\n  link: cloglog\n", "beta: 1.5", "beta: 2.5"}, 0.9},
		{"three levels", category("u, v, w"), 0.97},
		{"three levels of small beta", append(category("u, v, w"), "beta: 1.5", "beta: 1.1"), 0.97},
		{"five levels", append(category("r, s, t, u, v"), "1 + x + z", "1 + x + g"), 0.97},
		{"two levels", category("u, v"), 0.98},
		{"a weight", []string{"beta: 1.5}", "beta: 1.5, gibbs: {weight: 0.3}}"}, 0.98},
	} {
		m := modelstest.Compile(t, "bounded.yaml", strings.NewReplacer(c.edits...).Replace(boundedModel))
		p := fittest.Plan(t, m, plan.Config{Epsilon: 1})
		if err := p.Learn(m.DeclaredLaw()); err != nil {
			t.Fatal(err)
		}
		if !p.Model().Rotated() {
			t.Fatalf("%s: the plan has no whitened coordinates", c.name)
		}
		if p.ClipBound != table1.GradientBound(p.Model()) || p.StepClipNorm(0) > p.ClipBound || p.MostClipNorm() != p.ClipBound {
			t.Errorf("%s: clip norm %g beyond the bound %g", c.name, p.StepClipNorm(0), p.ClipBound)
		}
		for i, m := range []*models.Model{m, p.Model(), uneven(t, p.Model())} {
			bound, found := table1.GradientBound(m), longestGradient(m)
			if found > bound || i < 2 && found < c.least*bound {
				t.Errorf("%s, coordinates %d: a gradient of norm %.6g, the bound is %.6g", c.name, i, found, bound)
			}
		}
	}
}

// category are the edits that make y a category of these levels.
func category(levels string) []string {
	return []string{`type: binary, levels: ["0", "1"]`, "type: category, levels: [" + levels + "]", "bernoulli", "categorical"}
}

// uneven is m with larger units of every other coordinate, so that those of levels differ.
func uneven(t *testing.T, m *models.Model) *models.Model {
	c := models.Coordinates{Origin: make([]float64, m.P), Unit: slices.Repeat([]float64{1}, m.P)}
	if m.Rotated() {
		c = *m.Coordinates()
		c.Unit = slices.Clone(c.Unit)
	}
	for i := 0; i < m.P; i += 2 {
		c.Unit[i] *= 3
	}
	m, err := m.In(&c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// longestGradient climbs to the longest gradient that it finds.
func longestGradient(m *models.Model) float64 {
	rng := noise.NewRandom(noise.Public(1).Stream(noise.Simulation))
	machine, gradient := graph.NewMachine(m.Likelihood, 1), make([]float64, m.P)
	columns := m.Spec.Data.AllColumns()
	low, high := []float64{-1, -2, 0, 0}, []float64{3, 1, 2, 1}
	normAt := func(theta, record []float64) float64 {
		table := simulate.Table{Columns: columns}
		for _, x := range record {
			table.Values = append(table.Values, []float64{x})
		}
		machine.Globals(theta, nil)
		machine.Records(simulate.Encode(m, table, 1), m.Encoding.K, 1, nil)
		machine.Gradient(0, gradient)
		square := 0.0
		for _, g := range gradient {
			square += g * g
		}
		return math.Sqrt(square)
	}
	most := 0.0
	for range 60 {
		theta, record := make([]float64, m.P), make([]float64, len(columns))
		for j := range theta {
			theta[j] = 2 * rng.Normal()
		}
		corner := func(j int) {
			record[j] = low[j] + (high[j]-low[j])*math.Round(2*rng.Uniform())/2
			if m.Spec.Data.MissingOf(columns[j]).Rule == data.MissingImpute && rng.Uniform() < 0.25 {
				record[j] = math.NaN()
			}
		}
		for j := range record {
			corner(j)
		}
		record[3] = math.Floor(float64(len(columns[3].LevelNames())) * rng.Uniform())
		at := normAt(theta, record)
		for i := range 400 {
			j := int(rng.Uniform() * float64(m.P))
			was := theta[j]
			theta[j] += rng.Normal() * math.Pow(10, -2*rng.Uniform())
			k := int(rng.Uniform() * 3)
			number := record[k]
			if i%4 == 0 {
				corner(k)
			}
			if next := normAt(theta, record); next > at {
				at = next
			} else {
				theta[j], record[k] = was, number
			}
		}
		most = max(most, at)
	}
	return most
}

// A model without a bound keeps its clip norm: the log likelihood of a normal family has no
// bounded gradient, nor has a density with a free standard deviation.
func TestGradientsWithoutABound(t *testing.T) {
	for name, edits := range map[string][]string{
		"log likelihood":     {"likelihood: {divergence: beta, beta: 1.5}\n", ""},
		"standard deviation": {`{type: binary, levels: ["0", "1"]}`, "{type: real, lower: -1, upper: 1, scale: {center: 0, by: 1}}", "family: bernoulli", "family: normal"},
		"groups":             {"1 + x + z", "1 + x + (1 | g)"},
	} {
		m := modelstest.Compile(t, "unbounded.yaml", strings.NewReplacer(edits...).Replace(boundedModel))
		if p := fittest.Plan(t, m, plan.Config{Epsilon: 1}); p.ClipBound != 0 || !p.Clips() {
			t.Errorf("%s: gradients bounded by %g", name, p.ClipBound)
		}
	}
}

// Adaptive clipping follows a count, which groups and schedules do not release.
func TestQuantilesAreRefused(t *testing.T) {
	m := modelstest.Compile(t, "one.yaml", boundedModel)
	for want, cfg := range map[string]plan.Config{
		"--clip-groups":        {ClipGroups: "each"},
		"--batch-schedule":     {BatchSchedule: "linear:0.5", SamplingRate: 0.1},
		"--clip-norm-schedule": {ClipNormSchedule: "linear:0.5"},
	} {
		cfg.Epsilon = 1
		if _, err := plan.New(m, cfg); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		cfg.ClipQuantile = 0.9
		if _, err := plan.New(m, cfg); err == nil || !strings.HasPrefix(err.Error(), "--clip-quantile: not beside "+want+": ") {
			t.Errorf("%s beside a quantile: %v", want, err)
		}
	}
}

// The bound of a unit grows with its rows, and takes the place of a larger clip norm alone.
func TestClipNormIsTheBound(t *testing.T) {
	one := modelstest.Compile(t, "one.yaml", boundedModel)
	two := modelstest.Compile(t, "two.yaml", strings.Replace(boundedModel, "rows_per_unit: 1", "id: who, rows_per_unit: 2", 1))
	bound := table1.GradientBound(one)
	if ratio := table1.GradientBound(two) / bound; math.Abs(ratio-2) > 1e-9 {
		t.Errorf("two rows have %g times the bound of one", ratio)
	}
	for _, norm := range []float64{0.3, 5} {
		p := fittest.Plan(t, one, plan.Config{Epsilon: 1, ClipNorm: norm})
		if norm > bound { // bought scales change the gradients
			p.Settle(nil, modelstest.Compile(t, "scaled.yaml", strings.Replace(boundedModel, "by: 2", "by: 1", 1)))
			bound = table1.GradientBound(p.Model())
			if bound < 1.2*table1.GradientBound(one) {
				t.Errorf("half the scale leaves the bound at %g", bound)
			}
		}
		if got := p.StepClipNorm(0); got != min(norm, bound) || p.Clips() != (norm < bound) {
			t.Errorf("clip norm %g with gradients of at most %g: %g, clips %t", norm, bound, got, p.Clips())
		}
	}
}
