package models_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
)

const derivedLevels = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 2000}
  columns:
    age: {type: real, lower: 18, upper: 90, scale: {center: 50, by: 15}}
    town: {type: category, levels: [leeds, york, dover], reference: york}
    ward: {type: category, levels: [u, v]}
    y: {type: binary, levels: ["0", "1"]}
  derive:
    region: {is: town, levels: {south: [dover], north: [leeds, york]}, reference: north}
model:
  formula: y ~ cut(age / 10, 4, 6) + region + (1 | region/ward)
  family: bernoulli
  parametrisation: centred
  priors: {sd: half_normal(1)}
privacy: {neighbours: add_remove}
`

// The likelihood of derived categories, as predictors, groups and crossed groups, is
// that of their levels by hand.
func TestDerivedLevels(t *testing.T) {
	m := compileText(t, derivedLevels)
	at := make(map[string]int) // of a scalar parameter in θ
	names := m.Names()
	for i, name := range names {
		at[name] = i
	}
	rng := rand.New(rand.NewPCG(3, 5))
	theta := normals(m.P, 1, rng)
	value := func(name string) float64 {
		i, ok := at[name]
		if !ok {
			t.Fatalf("no parameter %s among %v", name, names)
		}
		return theta[i]
	}
	var rows []float64
	var want []float64
	for _, age := range []float64{18, 39.9, 40, 59.9, 60, 90} {
		for town := range 3 {
			for ward, w := range []string{"u", "v"} {
				row := make([]float64, m.Encoding.K)
				m.Encoding.Encode(row, func(header string) float64 {
					return map[string]float64{"age": age, "town": float64(town), "ward": float64(ward), "y": 1}[header]
				})
				rows = append(rows, row...)
				eta := value("Intercept")
				switch {
				case age >= 60:
					eta += value("b[cut(age/10,4,6)=6 and above]")
				case age >= 40:
					eta += value("b[cut(age/10,4,6)=4 to 6]")
				}
				region := "north"
				if town == 2 {
					region = "south"
					eta += value("b[region=south]")
				}
				eta += value("r_region["+region+",Intercept]") + value("r_region_by_ward["+region+":"+w+",Intercept]")
				want = append(want, -math.Log1p(math.Exp(-eta)))
			}
		}
	}
	machine := graph.NewMachine(m.Likelihood, len(want))
	machine.Globals(theta, nil)
	machine.Records(rows, m.Encoding.K, len(want), nil)
	for i := range want {
		if got := machine.Loss()[i]; math.Abs(got-want[i]) > 1e-12*(1+math.Abs(want[i])) {
			t.Errorf("record %d: log density %v, want %v", i, got, want[i])
		}
	}
}
