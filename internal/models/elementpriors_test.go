package models_test

import (
	"math"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/noise"
)

// The prior of a single coefficient names it as results do, also if its level has a comma and a blank.
func TestPriorsOfLevelsWithCommas(t *testing.T) {
	m := modelstest.Compile(t, "commas.yaml", `
d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    job: {type: category, levels: [Army, "Sales, office", "Sales,office"]}
    y: {type: category, levels: [never, former, now]}
model:
  formula: y ~ 1 + job
  family: categorical
  priors:
    "b[job=Sales, office,former]": normal(0, 3)
    "b[job=Sales,office,now]": normal(0, 4)
`)
	want := []string{"b[job=Sales, office,former]", "b[job=Sales, office,now]", "b[job=Sales,office,former]", "b[job=Sales,office,now]"}
	precisions := m.PriorPrecision(noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
	for _, p := range m.Params {
		if p.Name != "b" {
			continue
		}
		for i, name := range p.Elements() {
			sd := []float64{3, 1, 1, 4}[i]
			if got := precisions[p.Offset+i]; name != want[i] || math.Abs(math.Log(got*sd*sd)) > 0.5 { // its sd is 0.1
				t.Errorf("%s has precision %g, want %s with %g", name, got, want[i], 1/(sd*sd))
			}
		}
	}
}
