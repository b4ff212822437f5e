package report_test

import (
	"fmt"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
	"d3p/internal/privacy/noise"
	"d3p/internal/report"
	"d3p/internal/score"
	"d3p/internal/table1"
)

// Records that the model predicts nowhere leave no parameter of counts resolved if they are many for the table,
// and none wholly resolved if they are few or may be chance. Of a normal family they are about sigma. What noise explains is no
// verdict, nor are counts without a cell for each.
func TestVerdictOfRecordsFarOut(t *testing.T) {
	counts := strings.NewReplacer("type: real, lower: -50, upper: 50, scale: {center: 0, by: 1}", "type: integer, lower: 0, upper: 9", "family: normal", "family: poisson").Replace(oneCategory)
	repeated := strings.Replace(counts, "rows_per_unit: 1", "id: person, rows_per_unit: 64", 1)
	for _, c := range []struct {
		model, b, sigma string
		far, records    float64
		edges           int
	}{
		{counts, outputs.Resolved, "", 8, 1000, 3},
		{counts, outputs.Partly, "", 13, 1000, 3},
		{counts, outputs.Not, "", 40, 1000, 3},
		{counts, outputs.Partly, "", 40, 1e6, 3},
		{repeated, outputs.Not, "", 40, 1000, 3},
		{repeated, outputs.Resolved, "", 40, 1e6, 3}, // of up to 64 rows each
		{counts, outputs.Resolved, "", 40, 1e7, 3},   // fewer than the simulated tables can tell from none
		{counts, outputs.Resolved, "", 40, 1000, 4},
		{oneCategory, outputs.Resolved, outputs.Resolved, 8, 1000, 3},
		{oneCategory, outputs.Partly, outputs.Not, 13, 1000, 3},
		{oneCategory, outputs.Partly, outputs.Not, 40, 1000, 3},
	} {
		m := modelstest.Compile(t, "response.yaml", c.model)
		draws := outputs.DrawPrior(m, 100, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
		clear(draws.Free)
		q := &score.Surprisals{Noise: 5, Theta: make([]float64, m.P), Edges: []float64{1, 15, 30, 40}[:c.edges], Counts: []float64{900, 60, 0, c.far}}
		report.Judge(m, draws, nil, nil, report.Neighbours{NPublic: 1000}, report.Mechanism{Surprisals: q}, []table1.Row{
			{Statistic: table1.Units, Value: c.records, NoiseSD: 5},
			{Column: "band", Statistic: table1.Share, Of: "a", Value: 0.5, NoiseSD: 0.01},
			{Column: "band", Statistic: table1.Share, Of: "b", Value: 0.5, NoiseSD: 0.01},
		})
		for _, v := range draws.Variables {
			want := c.b
			if strings.HasPrefix(v.Name, "sigma") {
				want = c.sigma
			}
			if v.Verdict.Value != want || want != outputs.Resolved && !strings.Contains(v.Verdict.Why, fmt.Sprintf("about %g ± ", c.far)) {
				t.Errorf("%g of %g records far out: %s is %+v, want %s", c.far, c.records, v.Name, v.Verdict, want)
			}
		}
	}
}
