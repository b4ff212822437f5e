package verdict

import (
	"fmt"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
	"d3p/internal/posterior"
	"d3p/internal/privacy/noise"
	"d3p/internal/score"
	"d3p/internal/table1"
)

// Records that the model predicts nowhere leave no parameter of counts resolved if they are many for the table,
// and none wholly resolved if they are few. Of a normal family they are about sigma. What noise explains is no
// verdict, nor are levels that are hardly predicted, which no clipping hides, nor are counts without a cell for each.
func TestVerdictOfRecordsFarOut(t *testing.T) {
	counts := strings.NewReplacer("type: real, lower: -50, upper: 50, scale: {center: 0, by: 1}", "type: integer, lower: 0, upper: 9", "family: normal", "family: poisson").Replace(oneCategory)
	levels := strings.NewReplacer("type: real, lower: -50, upper: 50, scale: {center: 0, by: 1}", `type: binary, levels: ["0", "1"]`, "family: normal", "family: bernoulli").Replace(oneCategory)
	repeated := strings.Replace(counts, "rows_per_unit: 1", "id: person, rows_per_unit: 64", 1)
	for _, c := range []struct {
		model, b, sigma string
		far, records    float64
		edges           int
	}{
		{counts, outputs.Resolved, "", 8, 1000, 3},
		{counts, outputs.Not, "", 13, 1000, 3},
		{counts, outputs.Not, "", 40, 1000, 3},
		{counts, outputs.Partly, "", 40, 1e6, 3},
		{repeated, outputs.Not, "", 40, 1000, 3},
		{repeated, outputs.Partly, "", 40, 1e6, 3}, // of up to 64 rows each: they are only said to be independent
		{counts, outputs.Resolved, "", 40, 1e7, 3}, // fewer than the simulated tables can tell from none
		{counts, outputs.Resolved, "", 40, 1000, 4},
		{levels, outputs.Resolved, "", 40, 1000, 3},
		{oneCategory, outputs.Resolved, outputs.Resolved, 8, 1000, 3},
		{oneCategory, outputs.Partly, outputs.Not, 13, 1000, 3},
		{oneCategory, outputs.Partly, outputs.Not, 40, 1000, 3},
	} {
		m := modelstest.Compile(t, "response.yaml", c.model)
		draws := outputs.DrawPrior(m, 100, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
		clear(draws.Free)
		rows := bandRows(c.records)
		q := &score.Surprisals{Noise: 5, Theta: make([]float64, m.P), Edges: []float64{1, 15, 30, 40}[:c.edges]}
		q.Counts = append(predicted(t, m, draws, q, rows)[:3], c.far)
		judgeWith(m, draws, q, rows)
		for _, v := range draws.Variables {
			want := c.b
			if strings.HasPrefix(v.Name, "sigma") {
				want = c.sigma
			}
			blamed := want == outputs.Not || want == outputs.Partly && c.model != repeated
			if v.Verdict.Value != want || strings.Contains(v.Verdict.Why, fmt.Sprintf("about %g ± ", c.far)) != blamed {
				t.Errorf("%g of %g records far out: %s is %+v, want %s", c.far, c.records, v.Name, v.Verdict, want)
			}
		}
	}
}

// bandRows are the rows of a Table 1: the number of records, and that half of them have each band.
func bandRows(records float64) []table1.Row {
	return []table1.Row{
		{Statistic: table1.Units, Value: records, NoiseSD: 5},
		{Column: "band", Statistic: table1.Share, Of: "a", Value: 0.5, NoiseSD: 0.01},
		{Column: "band", Statistic: table1.Share, Of: "b", Value: 0.5, NoiseSD: 0.01},
	}
}

// predicted are the numbers of units in the cells of q that m predicts at the draws.
func predicted(t *testing.T, m *models.Model, draws *outputs.Draws, q *score.Surprisals, rows []table1.Row) (counts []float64) {
	l, err := table1.LawOf(rows, &m.Spec.Data)
	if err != nil {
		t.Fatal(err)
	}
	shares, _ := q.Expected(m, func(int) []float64 { return draws.Free[:m.P] }, l, 20, 2000)
	for _, share := range shares {
		counts = append(counts, rows[0].Value*share)
	}
	return counts
}

// A model whose records have other likelihoods than the real ones resolves nothing wholly.
func TestVerdictOfOtherLikelihoods(t *testing.T) {
	m := modelstest.Compile(t, "response.yaml", strings.NewReplacer("type: real, lower: -50, upper: 50, scale: {center: 0, by: 1}", "type: integer, lower: 0, upper: 9", "family: normal", "family: poisson").Replace(oneCategory))
	rows := bandRows(1000)
	for moved, want := range map[float64]string{0: outputs.Resolved, 100: outputs.Partly} {
		draws := outputs.DrawPrior(m, 100, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
		clear(draws.Free)
		q := &score.Surprisals{Noise: 5, Theta: make([]float64, m.P), Edges: []float64{1.5, 2.5, 4}}
		q.Counts = predicted(t, m, draws, q, rows)
		q.Counts[0], q.Counts[1] = q.Counts[0]-moved, q.Counts[1]+moved
		judgeWith(m, draws, q, rows)
		for _, v := range draws.Variables {
			if v.Verdict.Value != want {
				t.Errorf("%g records moved: %s is %+v, want %s", moved, v.Name, v.Verdict, want)
			}
		}
	}
}

// In a fit by second moments records far out are about sigma alone, unless they are farther than long tails or
// move slopes.
func TestRecordsFarOutBesideSteps(t *testing.T) {
	for _, c := range []struct {
		misfit   *posterior.StepMisfit
		far      FarOut
		b, sigma string
	}{
		{nil, FarOut{}, outputs.Resolved, outputs.Resolved},
		{nil, FarOut{Records: 9, SD: 2}, outputs.Partly, outputs.Not},
		{&posterior.StepMisfit{}, FarOut{Records: 9, SD: 2}, outputs.Resolved, outputs.Not},
		{&posterior.StepMisfit{}, FarOut{Records: 9, SD: 2, Extreme: true}, outputs.Partly, outputs.Not},
		{&posterior.StepMisfit{}, FarOut{Records: 9, SD: 2, Shift: 2 * farShift}, outputs.Partly, outputs.Not},
	} {
		d := &judged{Draws: &outputs.Draws{StepMisfit: c.misfit, Steps: 8}, known: Known{Normal: true, FarOut: c.far}}
		for variable, want := range map[string]string{"b[x]": c.b, "Intercept_raw": c.b, "sigma": c.sigma, "sigma_raw": c.sigma} {
			if got := d.besideFarOut(variable); got.Value != want {
				t.Errorf("%+v, %+v: %s is %+v, want %s", c.misfit, c.far, variable, got, want)
			}
		}
	}
}
