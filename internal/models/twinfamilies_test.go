package models_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/models/data"
	"d3p/internal/models/simulate"
	"d3p/internal/models/twin"
)

// twinColumns declares a column for every family.
var twinColumns = map[string]string{
	"normal":                          "{type: real, lower: -50, upper: 250, scale: {center: 165, by: 20}}",
	"student_t":                       "{type: integer, lower: -5, upper: 100}",
	"laplace":                         "{type: real, lower: 0.5, upper: 100, transform: log}",
	"poisson":                         "{type: integer, lower: 0, upper: 40}",
	"negative_binomial":               "{type: integer, lower: 0, upper: 40}",
	"zero_inflated_poisson":           "{type: integer, lower: 0, upper: 40}",
	"zero_inflated_negative_binomial": "{type: integer, lower: 0, upper: 40}",
	"gamma":                           "{type: real, lower: 0.1, upper: 40}",
	"exponential":                     "{type: integer, lower: 1, upper: 40}",
	"weibull":                         "{type: real, lower: 0.1, upper: 40}",
	"log_normal":                      "{type: real, lower: 0.1, upper: 40}",
	"beta":                            "{type: real, lower: 0.01, upper: 0.99}",
	"bernoulli":                       "{type: binary}",
	"categorical":                     "{type: category, levels: [a, b, c]}",
	"ordered_logistic":                "{type: ordinal, levels: [a, b, c]}",
}

// TestEveryTwinFamily compiles a twin with a column of each family, checks its
// gradients, also where the value is missing, and that its draws keep to the
// declaration.
func TestEveryTwinFamily(t *testing.T) {
	for _, family := range twin.FamilyNames() {
		t.Run(family, func(t *testing.T) {
			column := twinColumns[family]
			if column == "" {
				t.Fatal("no column for this family: add one to twinColumns")
			}
			m := compile(t, dataBlock(1, "y: "+strings.TrimSuffix(column, "}")+", missing: model}")+
				"twin:\n  components: 2\n  features: {x1: normal, y: "+family+"}\n")
			rng := testRand{rand.New(rand.NewPCG(31, 32))}
			theta := make([]float64, m.P)
			m.NewPriorSampler().Draw(theta, rng)
			twin, err := simulate.NewTwin(m)
			if err != nil {
				t.Fatal(err)
			}
			const n = 500
			table := twin.Table(n)
			if err := twin.Draw(table, 0, n, theta, rng); err != nil {
				t.Fatal(err)
			}
			y := m.Spec.Data.Column("y")
			for _, v := range table.Values[1] {
				switch {
				case math.IsNaN(v):
				case y.Numeric() && (v < y.Lower.V || v > y.Upper.V || y.Type.V == data.Integer && v != math.Trunc(v)):
					t.Fatalf("y is %g", v)
				case !y.Numeric() && y.Levels[int(v)].V == "":
					t.Fatalf("y has level %g", v)
				}
			}
			checkGradients(t, m, simulated(m.Encoding, 8, rng.Rand), normals(m.P, 0.3, rng.Rand))
		})
	}
}
