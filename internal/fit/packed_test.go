package fit_test

import (
	"context"
	"math"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

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
			m, path := modelstest.NarrowTable(t, c.levels, c.unit)
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
