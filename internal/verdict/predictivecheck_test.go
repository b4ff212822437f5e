package verdict

import (
	"math"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
	"d3p/internal/privacy/noise"
	"d3p/internal/table1"
)

// A Poisson response with rate 1 is 0, 1, and more in 37, 37 and 26 % of the records. Where
// Table 1 has other shares, beyond its noise and what the posterior leaves open, no
// parameter is resolved.
func TestMisfitOfTheResponse(t *testing.T) {
	response := func(declared, family string) string {
		return strings.NewReplacer("type: real, lower: -50, upper: 50, scale: {center: 0, by: 1}", declared, "family: normal", "family: "+family).Replace(oneCategory)
	}
	counts, times := response("type: integer, lower: 0, upper: 9", "poisson"), response("type: real, lower: 0.1, upper: 9", "exponential")
	whole, moved, cut := [3]string{"-0.5 to 0.5", "0.5 to 1.5", "1.5 to 9.5"}, [3]string{"-0.1 to 0.9", "0.9 to 1.9", "1.9 to 9.5"}, [3]string{"-0.5 to 0.2", "0.2 to 1.15", "1.15 to 8.7"}
	zeros := [3]float64{0.7, 0.1, 0.2}
	for _, c := range []struct {
		name, model string
		cells       [3]string
		shares      [3]float64
		sd, ofUnits float64 // of the shares, of the number of records
		swing       float64 // of the log rate between draws
		want        string
	}{
		{"as predicted", counts, whole, [3]float64{0.37, 0.36, 0.27}, 0.02, 5, 0, outputs.Resolved},
		{"as predicted, cells moved for the mean", counts, moved, [3]float64{0.37, 0.36, 0.27}, 0.02, 5, 0, outputs.Resolved},
		{"as predicted, cells moved and cut off", counts, cut, [3]float64{0.37, 0.36, 0.27}, 0.02, 5, 0, outputs.Resolved},
		{"too many zeros, cells moved", counts, moved, zeros, 0.02, 5, 0, outputs.Not},
		{"too many zeros", counts, whole, zeros, 0.02, 5, 0, outputs.Not},
		{"too many zeros, within the noise", counts, whole, [3]float64{0.5, 0.27, 0.23}, 0.05, 5, 0, outputs.Resolved},
		{"too many zeros, within the noise of counts", counts, whole, [3]float64{0.5, 0.27, 0.23}, 0.02, 50, 0, outputs.Resolved},
		{"too many zeros, by an uncertain rate", counts, whole, zeros, 0.02, 5, 1, outputs.Resolved},
		{"a few zeros too many", counts, whole, [3]float64{0.46, 0.29, 0.25}, 0.02, 5, 0, outputs.Partly},
		{"a positive response", times, whole, zeros, 0.02, 5, 0, outputs.Resolved},
	} {
		m := modelstest.Compile(t, "response.yaml", c.model)
		draws := outputs.DrawPrior(m, 100, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
		for i := range draws.Free {
			draws.Free[i] = 0
			if i%m.P == 0 {
				draws.Free[i] = c.swing * float64(1-2*(i/m.P%10/5))
			}
		}
		bought := []table1.Row{
			{Statistic: table1.Units, Value: 1000, NoiseSD: c.ofUnits},
			{Column: "band", Statistic: table1.Share, Of: "a", Value: 0.5, NoiseSD: 0.01},
			{Column: "band", Statistic: table1.Share, Of: "b", Value: 0.5, NoiseSD: 0.01},
		}
		for k, of := range c.cells {
			bought = append(bought, table1.Row{Column: "y", Statistic: table1.Cell, Of: of, Value: c.shares[k], NoiseSD: c.sd})
		}
		judgeWith(m, draws, nil, bought)
		for _, v := range draws.Variables {
			if v.Verdict.Value != c.want || v.Verdict.Value != outputs.Resolved && !strings.Contains(v.Verdict.Why, "predicts y") {
				t.Errorf("%s: %s is %+v, want %s", c.name, v.Name, v.Verdict, c.want)
			}
		}
	}
}

// Where Table 1 knows a response better than the simulated tables do, their own error is no misfit.
func TestErrorOfSimulatedTables(t *testing.T) {
	counts := strings.NewReplacer("type: real, lower: -50, upper: 50, scale: {center: 0, by: 1}", "type: integer, lower: 0, upper: 9", "family: normal", "family: poisson").Replace(oneCategory)
	m := modelstest.Compile(t, "response.yaml", counts)
	for zeros, want := range map[float64]string{math.Exp(-1): outputs.Resolved, 0.41: outputs.Partly} {
		draws := outputs.DrawPrior(m, 100, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
		clear(draws.Free)
		judgeWith(m, draws, nil, []table1.Row{
			{Statistic: table1.Units, Value: 1e7, NoiseSD: 5},
			{Column: "band", Statistic: table1.Share, Of: "a", Value: 0.5, NoiseSD: 1e-5},
			{Column: "band", Statistic: table1.Share, Of: "b", Value: 0.5, NoiseSD: 1e-5},
			{Column: "y", Statistic: table1.Cell, Of: "-0.5 to 0.5", Value: zeros, NoiseSD: 1e-5},
			{Column: "y", Statistic: table1.Cell, Of: "0.5 to 9.5", Value: 1 - zeros, NoiseSD: 1e-5},
		})
		for _, v := range draws.Variables {
			if v.Verdict.Value != want {
				t.Errorf("a share of zeros of %.3f: %s is %+v, want %s", zeros, v.Name, v.Verdict, want)
			}
		}
	}
}

// A response whose standard deviation Table 1 leaves open, by a long tail, is not resolved by a
// normal: the fit follows the records that are not far out.
func TestOpenTailOfTheResponse(t *testing.T) {
	m := modelstest.Compile(t, "response.yaml", oneCategory)
	for noiseSD, want := range map[float64]string{0.1: outputs.Resolved, 0.5: outputs.Partly, 0.8: outputs.Not} {
		draws := outputs.DrawPrior(m, 100, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
		judgeWith(m, draws, nil, []table1.Row{
			{Statistic: table1.Units, Value: 1000, NoiseSD: 5},
			{Column: "band", Statistic: table1.Share, Of: "a", Value: 0.5, NoiseSD: 0.01},
			{Column: "band", Statistic: table1.Share, Of: "b", Value: 0.5, NoiseSD: 0.01},
			{Column: "y", Statistic: table1.SD, Value: 1, NoiseSD: noiseSD},
			{Column: "y", Statistic: table1.Cell, Of: "-50 to 50", Value: 1, NoiseSD: 0.01},
		})
		for _, v := range draws.Variables {
			if v.Verdict.Value != want || want != outputs.Resolved && !strings.Contains(v.Verdict.Why, "tail") {
				t.Errorf("noise %g: %s is %+v, want %s", noiseSD, v.Name, v.Verdict, want)
			}
		}
	}
}

// A response whose counts show more records far out than its standard deviation has leaves the residual
// standard deviation open, and with a normal family the intervals of coefficients.
func TestOpenStandardDeviation(t *testing.T) {
	m, high := modelstest.Compile(t, "response.yaml", oneCategory), 4.0
	for _, open := range []bool{false, true} {
		draws := outputs.DrawPrior(m, 100, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
		judgeWith(m, draws, nil, []table1.Row{
			{Statistic: table1.Units, Value: 1000, NoiseSD: 5},
			{Column: "band", Statistic: table1.Share, Of: "a", Value: 0.5, NoiseSD: 0.01},
			{Column: "band", Statistic: table1.Share, Of: "b", Value: 0.5, NoiseSD: 0.01},
			{Column: "y", Statistic: table1.SD, Value: 1, NoiseSD: 2, ShapeSD: 0.1, High: &high, Open: open},
			{Column: "y", Statistic: table1.Cell, Of: "-50 to 50", Value: 1, NoiseSD: 0.01},
		})
		for _, v := range draws.Variables {
			want := outputs.Resolved
			if open {
				want = outputs.Partly
			}
			if v.Verdict.Value != want || want != outputs.Resolved && !strings.Contains(v.Verdict.Why, "1 or up to 4") {
				t.Errorf("open %t: %s is %+v, want %s", open, v.Name, v.Verdict, want)
			}
		}
	}
}
