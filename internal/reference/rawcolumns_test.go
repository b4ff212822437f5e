package reference

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/modelstest"
)

const rawPoisson = `
d3p: 1
name: raw
data:
  unit: {entity: visit, rows_per_unit: 1}
  rows: {public: 400}
  columns:
    year: {type: real, lower: -10000, upper: 10000, scale: {center: 0, by: 1}}
    y: {type: integer, lower: 0, upper: 100000}
core:
  params:
    a: normal(0, 10)
    b: normal(0, 1)
  rows:
    observe:
      y: poisson(exp(a + b * year))
`

// TestRawCounts: at a start of size 1, exp overflows for some records. They count, and the
// chains find the effect of a unit of 1/6000 of the column's range.
func TestRawCounts(t *testing.T) {
	m := modelstest.Compile(t, "raw.yaml", rawPoisson)
	rng := rand.New(rand.NewPCG(5, 5))
	csv := "year,y\n"
	const slope = 3e-4
	for i := range 400 {
		year := -5000 + 25*float64(i)
		mean := math.Exp(1 + slope*year)
		csv += fmt.Sprintf("%g,%.0f\n", year, math.Max(0, math.Round(mean+math.Sqrt(mean)*rng.NormFloat64())))
	}
	s, err := Sample(context.Background(), m, curators(t, m, csv), Options{Seed: 3, Draws: 200})
	if err != nil {
		t.Fatal(err)
	}
	for c, chain := range s.Chains {
		mean := 0.0
		for i := 1; i < len(chain.Draws); i += m.P {
			mean += chain.Draws[i] / 200
		}
		// the posterior sd is 1e-5
		if math.Abs(mean-slope) > 6e-5 || chain.Evaluations > 10000 {
			t.Errorf("chain %d: mean %g after %d gradients, want %g", c, mean, chain.Evaluations, slope)
		}
	}
}
