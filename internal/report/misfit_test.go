package report_test

import (
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
	"d3p/internal/privacy/noise"
	"d3p/internal/report"
	"d3p/internal/table1"
)

// A Poisson response with rate 1 is 0, 1, and more in 37, 37 and 26 % of the records. Where
// Table 1 has other shares, beyond its noise and what the posterior leaves open, no
// parameter is resolved.
func TestMisfitOfTheResponse(t *testing.T) {
	text := strings.NewReplacer("type: real, lower: -50, upper: 50, scale: {center: 0, by: 1}", "type: integer, lower: 0, upper: 9", "family: normal", "family: poisson").Replace(oneCategory)
	m := modelstest.Compile(t, "counts.yaml", text)
	for _, c := range []struct {
		name      string
		shares    [3]float64
		sd, swing float64 // of the shares; of the log rate between draws
		want      string
	}{
		{"as predicted", [3]float64{0.37, 0.36, 0.27}, 0.02, 0, outputs.Resolved},
		{"too many zeros", [3]float64{0.7, 0.1, 0.2}, 0.02, 0, outputs.Not},
		{"too many zeros, within the noise", [3]float64{0.5, 0.27, 0.23}, 0.05, 0, outputs.Resolved},
		{"too many zeros, by an uncertain rate", [3]float64{0.7, 0.1, 0.2}, 0.02, 1, outputs.Resolved},
		{"a few zeros too many", [3]float64{0.45, 0.3, 0.25}, 0.02, 0, outputs.Partly},
	} {
		draws := outputs.DrawPrior(m, 100, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
		for i := range draws.Free {
			draws.Free[i] = 0
			if i%m.P == 0 {
				draws.Free[i] = c.swing * float64(1-2*(i/m.P%10/5))
			}
		}
		bought := []table1.Row{
			{Statistic: table1.Units, Value: 1000, NoiseSD: 5},
			{Column: "band", Statistic: table1.Share, Of: "a", Value: 0.5, NoiseSD: 0.01},
			{Column: "band", Statistic: table1.Share, Of: "b", Value: 0.5, NoiseSD: 0.01},
		}
		for k, of := range []string{"-0.5 to 0.5", "0.5 to 1.5", "1.5 to 9.5"} {
			bought = append(bought, table1.Row{Column: "y", Statistic: table1.Cell, Of: of, Value: c.shares[k], NoiseSD: c.sd})
		}
		report.Judge(m, draws, nil, nil, report.Neighbours{NPublic: 1000}, report.Mechanism{}, bought)
		for _, v := range draws.Variables {
			if v.Verdict.Value != c.want || v.Verdict.Value != outputs.Resolved && !strings.Contains(v.Verdict.Why, "predicts y") {
				t.Errorf("%s: %s is %+v, want %s", c.name, v.Name, v.Verdict, c.want)
			}
		}
	}
}
