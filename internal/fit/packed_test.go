package fit_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

const packedModel = `d3p: 1
data:
  unit: {entity: patient%s}
  rows: {public: 3000}
  columns:
    x: {type: real, lower: -3, upper: 3}
    g: {type: category, levels: [%s], unknown: reject_row_silently}
    n: {type: integer, lower: 0, upper: 100}
    m: {type: integer, lower: -50, upper: 5000, missing: {impute: 20}}
    y: {type: binary}
model: {formula: y ~ 1 + x + g + n + m, family: bernoulli}
`

// A fit of a packed table has the bits of the fit of one that is not: with few columns, which
// are copied to lanes, with many, which are read in place, and with several rows a unit.
func TestFitOfPackedTable(t *testing.T) {
	for name, c := range map[string]struct {
		levels int
		unit   string
	}{
		"lanes": {5, ", rows_per_unit: 1"}, "in place": {60, ", rows_per_unit: 1"}, "units": {30, ", id: id, rows_per_unit: 3"},
	} {
		t.Run(name, func(t *testing.T) {
			var levels []string
			for l := range c.levels {
				levels = append(levels, fmt.Sprint("l", l))
			}
			rng := rand.New(rand.NewPCG(5, 6))
			var text strings.Builder
			text.WriteString("id,x,g,n,m,y\n")
			for i := range 3000 {
				g := levels[rng.IntN(c.levels)]
				if rng.IntN(30) == 0 {
					g = "other" // an invalid record
				}
				fmt.Fprintf(&text, "%d,%g,%s,%d,%s,%d\n", i/2, rng.NormFloat64(), g, rng.IntN(120), []string{"NA", fmt.Sprint(rng.IntN(6000))}[rng.IntN(2)], rng.IntN(2))
			}
			path := filepath.Join(t.TempDir(), "t.csv")
			if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			m := modelstest.Compile(t, "m.yaml", fmt.Sprintf(packedModel, c.unit, strings.Join(levels, ", ")))
			var want []float64
			for _, from := range []int64{0, 1} {
				p, err := plan.New(m, plan.Config{Epsilon: 1, Table1: "none", Steps: 20})
				if err != nil {
					t.Fatal(err)
				}
				root := noise.Insecure(1)
				curator, err := privacy.NewCurator(privacy.CuratorConfig{
					Table:  privacy.NewTable(privacy.TableConfig{Data: path, Encoding: m.Encoding, Spare: m.Likelihood.K - m.Likelihood.K0, Precision: privacy.Float32, Root: root, PackFrom: from}),
					Engine: cpu.New(cpu.Options{Threads: 2}), Root: root, Budget: p.Budget(), Relation: p.Neighbours,
				})
				if err != nil {
					t.Fatal(err)
				}
				result, err := fit.Run(context.Background(), p, curator, nil)
				if err != nil {
					t.Fatal(err)
				}
				got := result.Posterior.Mean
				if want == nil {
					want = got
				}
				for j := range want {
					if math.Float64bits(got[j]) != math.Float64bits(want[j]) {
						t.Fatalf("mean %d is %g packed, %g else", j, got[j], want[j])
					}
				}
			}
		})
	}
}
