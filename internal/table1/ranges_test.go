package table1

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/modelstest"
)

// oneNumber is a model that predicts y from the real number u with this declaration.
func oneNumber(t *testing.T, declaration string) *models.Model {
	t.Helper()
	return modelstest.Compile(t, "x.yaml", fmt.Sprintf(`d3p: 1
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 30000}
  columns:
    u: {%s}
    y: {type: binary}
model: {formula: y ~ u, family: bernoulli}
`, declaration))
}

// Cells that are wider than a column do not place it: it keeps its declared place if that
// explains their counts, and has another one if it does not. The declared centre, like the 0 of
// most tables, is in the middle of bounds that are as far above as below it.
func TestDeclaredPlaceIsKept(t *testing.T) {
	m := oneNumber(t, "type: real, lower: -200, upper: 200, scale: {center: 0, by: 1}")
	c := columnOf(m.Spec.Data.Columns[0])
	cuts := equalCuts(c, rangeCells)
	const noise = 2000 // of 30000 records
	rng := rand.New(rand.NewPCG(1, 1))
	for _, test := range []struct {
		name     string
		of       func() float64
		declared bool
	}{
		{"zeros", func() float64 { return 0 }, true},
		{"as declared", rng.NormFloat64, true},
		{"rarely 1", func() float64 { return float64(rng.IntN(20) / 19) }, true},
		{"elsewhere", func() float64 { return 30 + rng.NormFloat64() }, false},
		{"8 times as wide", func() float64 { return 8 * rng.NormFloat64() }, false},
	} {
		counts := make([]float64, len(cuts)+2)
		for range 30000 {
			cell := 0
			for x := test.of(); cell < len(cuts) && x >= cuts[cell]; {
				cell++
			}
			counts[cell]++
		}
		for i := range counts {
			counts[i] += noise * rng.NormFloat64()
		}
		if at, signal := findPlace(c, cuts, counts, noise, sure); signal == 0 || (at == place{c.center, c.scale}) != test.declared {
			t.Errorf("%s: place %v (signal %v)", test.name, at, signal)
		}
	}
}
