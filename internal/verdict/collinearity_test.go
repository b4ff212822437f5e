package verdict

import (
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
	"d3p/internal/privacy/noise"
	"d3p/internal/table1"
)

const manyPredictors = `d3p: 1
name: predictors
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    d1: {type: binary, levels: [no, yes]}
    d2: {type: binary, levels: [no, yes]}
    d3: {type: integer, lower: 0, upper: 1}
    band: {type: category, levels: [a, b]}
    x: {type: real, lower: -5, upper: 5}
    z: {type: real, lower: -5, upper: 5}
    y: {type: real, lower: -50, upper: 50}
model:
  formula: y ~ 1 + d1 + d2 + d3 + band + x + z
  family: normal
`

// Coefficients are not resolved beside columns that may determine their own: levels
// that exclude each other, a number that levels determine, a number whose correlation with
// another is hardly known. Numbers that are surely different stay resolved.
func TestDependentColumns(t *testing.T) {
	m := modelstest.Compile(t, "predictors.yaml", manyPredictors)
	correlation := func(one, other string, value, sd float64) table1.Row {
		return table1.Row{Column: one, Statistic: table1.Correlation, Of: other, Value: value, NoiseSD: sd}
	}
	exclusive := func(rho float64) []table1.Row {
		return []table1.Row{correlation("d1", "d2", rho, 0.05), correlation("d1", "d3", rho, 0.05), correlation("d2", "d3", rho, 0.05)}
	}
	within := func(column string, low, high, sd float64) []table1.Row {
		return []table1.Row{
			{Column: "band", Statistic: table1.Share, Of: "a", Value: 0.5, NoiseSD: 0.01}, {Column: "band", Statistic: table1.Share, Of: "b", Value: 0.5, NoiseSD: 0.01},
			{Column: column, Statistic: table1.MeanScore, Of: "band: a", Value: low, NoiseSD: sd}, {Column: column, Statistic: table1.MeanScore, Of: "band: b", Value: high, NoiseSD: sd},
		}
	}
	for _, c := range []struct {
		name   string
		bought []table1.Row
		want   string // of the coefficients
		of     string // columns; the others are resolved
	}{
		{"levels exclude each other", exclusive(-0.5), outputs.Not, "d1 d2 d3"},
		{"levels do not", exclusive(-0.4), outputs.Resolved, ""},
		{"levels determine a number", within("x", -1, 1, 0.1), outputs.Not, "band=b x"},
		{"levels explain a number", within("x", -0.7, 0.7, 0.1), outputs.Resolved, ""},
		{"nothing is known of a number", within("x", -0.7, 0.7, 0.7), outputs.Resolved, ""},
		{"levels determine the response", within("y", -1, 1, 0.1), outputs.Resolved, ""},
		{"an unknown correlation", []table1.Row{correlation("x", "z", 0.7, 0.35)}, outputs.Partly, "x z"},
		{"an unknown small correlation", []table1.Row{correlation("x", "z", 0.3, 0.35)}, outputs.Resolved, ""},
		{"a known correlation", []table1.Row{correlation("x", "z", 0.95, 0.03)}, outputs.Resolved, ""},
		{"one that may be 1", []table1.Row{correlation("x", "z", 0.95, 0.06)}, outputs.Partly, "x z"},
		{"with the response", []table1.Row{correlation("x", "z", 0, 0.1), correlation("x", "y", 0.9, 0.3)}, outputs.Resolved, ""},
	} {
		draws := outputs.DrawPrior(m, 100, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
		bought := append([]table1.Row{{Statistic: table1.Units, Value: 1000, NoiseSD: 5}, correlation("d1", "x", 0, 0.1)}, c.bought...)
		judgeWith(m, draws, nil, bought)
		for _, v := range draws.Variables {
			want := outputs.Resolved
			for _, column := range strings.Fields(c.of) {
				if v.Name == "b["+column+"]" || v.Name == "b_raw["+column+"]" {
					want = c.want
				}
			}
			if v.Verdict.Value != want {
				t.Errorf("%s: %s is %+v, want %s", c.name, v.Name, v.Verdict, want)
			}
		}
	}
}

// A column that a group determines has another remedy than to leave the group out.
func TestDependenceOnGroups(t *testing.T) {
	text := strings.Replace(manyPredictors, "+ band + x + z", "+ x + (1 | band)", 1)
	m := modelstest.Compile(t, "groups.yaml", strings.Replace(text, "model:", "  constant_within: none\nmodel:", 1))
	rows := []table1.Row{
		{Statistic: table1.Units, Value: 1000, NoiseSD: 5},
		{Column: "band", Statistic: table1.Share, Of: "a", Value: 0.5, NoiseSD: 0.01}, {Column: "band", Statistic: table1.Share, Of: "b", Value: 0.5, NoiseSD: 0.01},
		{Column: "x", Statistic: table1.MeanScore, Of: "band: a", Value: -1, NoiseSD: 0.1}, {Column: "x", Statistic: table1.MeanScore, Of: "band: b", Value: 1, NoiseSD: 0.1},
	}
	why := func(rows []table1.Row) string {
		draws := outputs.DrawPrior(m, 100, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
		judgeWith(m, draws, nil, rows)
		at := slices.IndexFunc(draws.Variables, func(v outputs.Variable) bool { return v.Name == "b[x]" })
		return draws.Variables[at].Verdict.Value + ": " + draws.Variables[at].Verdict.Why
	}
	if got := why(rows); !strings.HasPrefix(got, outputs.Not) || !strings.Contains(got, "declare constant_within: band if") {
		t.Errorf("b[x] is %s", got)
	}
	// Table 1 has it by group: the fit's records are as the true ones
	rows = append(rows,
		table1.Row{Column: "x", Statistic: table1.GroupScore, Of: "band: a", Value: -1, NoiseSD: 0.1}, table1.Row{Column: "x", Statistic: table1.GroupScore, Of: "band: b", Value: 1, NoiseSD: 0.1},
		table1.Row{Column: "x", Statistic: table1.SDWithin, Of: "band", Value: 0, NoiseSD: 0.01})
	if got := why(rows); strings.Contains(got, "follow from") {
		t.Errorf("b[x], known by band, is %s", got)
	}
}
