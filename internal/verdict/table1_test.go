package verdict

import (
	"math"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
	"d3p/internal/privacy/noise"
	"d3p/internal/score"
	"d3p/internal/table1"
)

const oneCategory = `d3p: 1
name: bands
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    band: {type: category, levels: [a, b]}
    y: {type: real, lower: -50, upper: 50, scale: {center: 0, by: 1}}
model:
  formula: y ~ 1 + band
  family: normal
`

// judgeWith judges draws of m by Table 1, bought, and the counts q after the last step, nil without any.
func judgeWith(m *models.Model, draws *outputs.Draws, q *score.Surprisals, bought []table1.Row) {
	known := ByTable1(m, bought)
	known.Declared, known.Units = 1000, OfRows(m, nil)
	known.Check(m, draws, q, bought)
	Judge(m, draws, nil, nil, known)
}

// Core blocks that read a predictor rest on how it is spread as the formula does; a model that
// describes every column rests on none.
func TestUnmeasuredPredictorsOfCoreBlocks(t *testing.T) {
	for response, want := range map[string]bool{"normal(c[band], 1)": true, "normal(c['a'], 1)": false} {
		core := "core:\n  dims: {band: levels(band)}\n  params: {c: 'normal(0, 1) [band]'}\n  rows:\n    observe:\n      y: " + response + "\n"
		text, _, _ := strings.Cut(oneCategory, "model:")
		m := modelstest.Compile(t, "core.yaml", text+core)
		if k := ByTable1(m, nil); (k.Assumed != "") != want {
			t.Errorf("%s: %q", response, k.Assumed)
		}
	}
}

// Events are the records beside the commonest value of levels or whole numbers, with the
// noise of all their cells; a real response has none.
func TestEventsOfTable1(t *testing.T) {
	counts := strings.NewReplacer("type: real, lower: -50, upper: 50, scale: {center: 0, by: 1}", "type: integer, lower: 0, upper: 9", "family: normal", "family: poisson").Replace(oneCategory)
	bought := []table1.Row{
		{Statistic: table1.Units, Value: 900, NoiseSD: 5},
		{Column: "band", Statistic: table1.Share, Of: "a", Value: 0.01, NoiseSD: 0.01},
		{Column: "y", Statistic: table1.Cell, Of: "-0.5 to 0.5", Value: 0.9, NoiseSD: 0.05},
		{Column: "y", Statistic: table1.Cell, Of: "0.5 to 1.5", Value: 0.04, NoiseSD: 0.03},
		{Column: "y", Statistic: table1.Cell, Of: "1.5 to 9.5", Value: 0.06, NoiseSD: 0.04},
	}
	events := ByTable1(modelstest.Compile(t, "counts.yaml", counts), bought).Events
	if math.Abs(events.Records-90) > 1e-9 || math.Abs(events.SD-45) > 1e-9 || !strings.Contains(events.Name, "value of y other than") {
		t.Errorf("events %+v, want 90 ± 45", events)
	}
	rare := []table1.Row{
		{Statistic: table1.Units, Value: 900, NoiseSD: 5},
		{Column: "y", Statistic: table1.Cell, Of: "-0.5 to 0.5", Value: 0.999, NoiseSD: 0.05, ShapeSD: 0.004},
		{Column: "y", Statistic: table1.Cell, Of: "0.5 to 1.5", Value: 0.001, NoiseSD: 0.03, ShapeSD: 0.004},
	}
	if hidden := ByTable1(modelstest.Compile(t, "counts.yaml", counts), rare).Events; math.Abs(hidden.SD-27) > 1e-9 {
		t.Errorf("events that the noise of a count hides %+v, want 1 ± 27", hidden)
	}
	if k := ByTable1(modelstest.Compile(t, "bands.yaml", oneCategory), bought); k.Events.Name != "" {
		t.Errorf("a real response has events %+v", k.Events)
	}
}

// The records on the scarcer side of a cutpoint are those of all levels there.
func TestCutpointsOfTable1(t *testing.T) {
	ordinal := strings.NewReplacer("type: real, lower: -50, upper: 50, scale: {center: 0, by: 1}", "type: ordinal, levels: [low, middle, high, top]", "family: normal", "family: cumulative").Replace(oneCategory)
	bought := []table1.Row{{Statistic: table1.Units, Value: 1000, NoiseSD: 5}}
	for k, level := range []string{"low", "middle", "high", "top"} {
		bought = append(bought, table1.Row{Column: "y", Statistic: table1.Share, Of: level, Value: []float64{0.02, 0.38, 0.4, 0.2}[k], NoiseSD: 0.03})
	}
	m := modelstest.Compile(t, "ordinal.yaml", ordinal)
	got := ByTable1(m, bought).Cutpoints
	draws := outputs.DrawPrior(m, 100, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
	draws.Free = nil // no check of the response
	judgeWith(m, draws, nil, bought)
	for _, v := range draws.Variables {
		if verdict := map[string]string{"thresholds[1]": outputs.Not, "thresholds[3]": outputs.Resolved}[v.Name]; verdict != "" && v.Verdict.Value != verdict {
			t.Errorf("%s is %+v, want %s", v.Name, v.Verdict, verdict)
		}
	}
	want := []Level{{Name: "y up to low", Records: 20, SD: 30}, {Name: "y up to middle", Records: 400, SD: 30 * math.Sqrt2}, {Name: "y from top", Records: 200, SD: 30}}
	for k := range want {
		if len(got) != len(want) || got[k].Name != want[k].Name || math.Abs(got[k].Records-want[k].Records) > 1e-9 || math.Abs(got[k].SD-want[k].SD) > 1e-9 {
			t.Fatalf("%+v, want %+v", got, want)
		}
	}
}

// Of a whole number with a cell for each value the records beside the commonest one count, as
// those of levels do; of a wider one they do not.
func TestOtherNumbersOfTable1(t *testing.T) {
	numbers := strings.NewReplacer("    y:", "    hiv: {type: integer, lower: 0, upper: 1}\n    age: {type: integer, lower: 0, upper: 100}\n    y:", "1 + band", "1 + band + hiv + age").Replace(oneCategory)
	bought := []table1.Row{
		{Statistic: table1.Units, Value: 1000, NoiseSD: 5},
		{Column: "hiv", Statistic: table1.Cell, Of: "-0.5 to 0.5", Value: 0.98, NoiseSD: 0.03},
		{Column: "hiv", Statistic: table1.Cell, Of: "0.5 to 1.5", Value: 0.02, NoiseSD: 0.03},
		{Column: "age", Statistic: table1.Cell, Of: "-0.5 to 49.5", Value: 1, NoiseSD: 0.03},
	}
	others := ByTable1(modelstest.Compile(t, "numbers.yaml", numbers), bought).Others
	if hiv := others["hiv"]; len(others) != 1 || math.Abs(hiv.Records-20) > 1e-9 || math.Abs(hiv.SD-30) > 1e-9 {
		t.Errorf("others %+v, want 20 ± 30 of hiv", others)
	}
}

// A sum of two columns beside both is a predictor only as far as the correlations tell.
func TestPredictorsThatFollowFromOthers(t *testing.T) {
	m := modelstest.Compile(t, "sum.yaml", strings.NewReplacer("    y:", "    x: {type: real, lower: 0, upper: 9}\n    z: {type: real, lower: 0, upper: 9}\n    tot: {type: real, lower: 0, upper: 9}\n    y:", "1 + band", "1 + x + z + tot").Replace(oneCategory))
	for noise, want := range map[float64]string{0.05: outputs.Not, 0.02: outputs.Partly, 0.005: ""} {
		var bought []table1.Row
		for _, pair := range []struct {
			a, b string
			rho  float64
		}{{"x", "z", 0}, {"x", "tot", 0.9}, {"z", "tot", 0.4}} {
			bought = append(bought, table1.Row{Column: pair.a, Statistic: table1.Correlation, Of: pair.b, Value: pair.rho, NoiseSD: noise})
		}
		l, err := table1.LawOf(bought, &m.Spec.Data)
		if err != nil {
			t.Fatal(err)
		}
		if got := collinear(m, l)["tot"]; got.Value != want {
			t.Errorf("noise %v: %+v, want %q", noise, got, want)
		}
	}
}

// A column is no predictor if Table 1 shows no spread of it. A column with a tail is one, and so is a column with
// quartiles in several cells.
func TestColumnsWithoutSpread(t *testing.T) {
	numbers := strings.NewReplacer("    y:", "    still: {type: real, lower: 0, upper: 9}\n    tail: {type: real, lower: 0, upper: 9}\n    wide: {type: real, lower: 0, upper: 9}\n    y:", "1 + band", "1 + band + still + tail + wide").Replace(oneCategory)
	m := modelstest.Compile(t, "numbers.yaml", numbers)
	limits := func(column string, s table1.Statistic, low, high float64) table1.Row {
		return table1.Row{Column: column, Statistic: s, Low: &low, High: &high}
	}
	var bought []table1.Row
	for _, c := range []struct {
		name         string
		sd, quartile float64
	}{{"still", 0, 2}, {"tail", 0.5, 2}, {"wide", 0, 3}} {
		bought = append(bought, limits(c.name, table1.SD, c.sd, 4), limits(c.name, table1.Quartile1, 1, 2), limits(c.name, table1.Median, 1, 2), limits(c.name, table1.Quartile3, 1, c.quartile))
	}
	known := ByTable1(m, bought)
	if !slices.Equal(known.Constant, []string{"still"}) {
		t.Errorf("without spread: %v, want still", known.Constant)
	}
	draws := outputs.Draws{S: 4, Values: []float64{1, 2, 3, 4, 4, 1, 2, 3}, Variables: []outputs.Variable{{Name: "b[still]"}, {Name: "b[tail]"}}}
	Judge(m, &draws, nil, nil, Known{Constant: known.Constant})
	if still, tail := draws.Variables[0].Verdict.Value, draws.Variables[1].Verdict.Value; still != outputs.Not || tail != outputs.Resolved {
		t.Errorf("verdicts %s and %s, want not and resolved", still, tail)
	}
	if why := draws.Variables[0].Verdict.Why; !strings.Contains(why, "stand at a bound to which they were moved (d3p check MODEL --data FILE --out PRIVATE counts them)") {
		t.Errorf("bounds in another unit are a cause, too: %q", why)
	}
}

// With several predictors no interval counts as resolved unless Table 1 has their
// correlations: correlated columns that are taken for independent give wrong signs.
func TestCorrelationsOfTable1(t *testing.T) {
	m := modelstest.Compile(t, "two.yaml", strings.NewReplacer("    y:", "    x: {type: real, lower: 0, upper: 1}\n    y:", "1 + band", "1 + band + x").Replace(oneCategory))
	bought := []table1.Row{{Statistic: table1.Units, Value: 900, NoiseSD: 5}, {Column: "x", Statistic: table1.Mean, Value: 0.5, NoiseSD: 0.01}}
	if k := ByTable1(m, bought); !strings.Contains(k.Assumed, "vary together") {
		t.Errorf("without correlations: %q", k.Assumed)
	}
	bought = append(bought, table1.Row{Column: "x", Statistic: table1.Correlation, Of: "band", Value: 0.9, NoiseSD: 0.1})
	if k := ByTable1(m, bought); k.Assumed != "" {
		t.Errorf("with correlations: %q", k.Assumed)
	}
}

// openColumns names the columns that may be constant within groups, since nothing declares them.
func TestOpenColumns(t *testing.T) {
	grouped := strings.NewReplacer("    y:", "    x: {type: real, lower: 0, upper: 1, constant_within: none}\n    site: {type: category, levels: [p, q]}\n    y:",
		"1 + band", "1 + band + x + (1 | site)").Replace(oneCategory)
	if k := ByTable1(modelstest.Compile(t, "open.yaml", grouped), nil); len(k.Open) != 1 || k.Open["band"] != "site" || len(k.Within) > 0 {
		t.Errorf("open: %v, want band; within: %v, want none", k.Open, k.Within)
	}
	within := strings.Replace(grouped, "constant_within: none", "constant_within: site", 1)
	if k := ByTable1(modelstest.Compile(t, "within.yaml", within), nil); len(k.Within) != 1 || k.Within["x"] != "site" {
		t.Errorf("within: %v, want x", k.Within)
	}
	// shares of (a, p), (a, q), (b, p), (b, q)
	for _, c := range []struct {
		shares []float64
		noise  float64
		open   bool
	}{
		{[]float64{0.3, 0.3, 0.2, 0.2}, 0.01, false}, {[]float64{0.5, 0, 0, 0.5}, 0.01, true}, {[]float64{0.5, 0.01, -0.01, 0.5}, 0.01, true},
		{[]float64{0.4, 0.1, 0.1, 0.4}, 0.001, true}, {[]float64{0.3, 0.3, 0.2, 0.2}, 0.05, false}, {[]float64{0.3, 0.3, 0.2, 0.2}, 0.1, true}, {[]float64{1.6, -0.5, 0.4, -0.5}, 0.2, true}, {[]float64{0.6, 0, 0, 0.4}, 0.3, true},
		{[]float64{0.6, 0.001, 0.4, -0.001}, 0.001, false},
	} {
		var bought []table1.Row
		for i, share := range c.shares {
			of := []string{"site: p, a", "site: q, a", "site: p, b", "site: q, b"}[i]
			bought = append(bought, table1.Row{Column: "band", Statistic: table1.JointShare, Of: of, Value: share, NoiseSD: c.noise})
		}
		if k := ByTable1(modelstest.Compile(t, "pairs.yaml", grouped), bought); (k.Open["band"] == "site") != c.open {
			t.Errorf("shares %v ± %g: open %v, want %v", c.shares, c.noise, k.Open, c.open)
		}
	}
	derived := modelstest.Compile(t, "open.yaml", strings.NewReplacer(", constant_within: none}", "}", "model:", "  derive:\n    high: x > 0.5\nmodel:", "+ x +", "+ x + high +").Replace(grouped))
	bought := []table1.Row{{Column: "x", Statistic: table1.SDWithin, Of: "site", Value: 0.1, NoiseSD: 0.01}}
	for _, c := range []struct {
		value float64
		want  string
	}{{0, "site"}, {0.019, "site"}, {0.021, ""}} {
		bought[0].Value = c.value
		if k := ByTable1(modelstest.Compile(t, "bought.yaml", grouped), bought); k.Within["x"] != c.want {
			t.Errorf("%g within groups, ± .01: x has one value within %q, want %q", c.value, k.Within["x"], c.want)
		}
	}
	if k := ByTable1(derived, nil); len(k.Open) != 3 {
		t.Errorf("open: %v, want band, x and high", k.Open)
	}
	if k := ByTable1(derived, bought); len(k.Open) != 1 || k.Open["band"] != "site" {
		t.Errorf("open: %v, want band, because Table 1 has x within sites", k.Open)
	}
}

// A predictor with a long tail and an open standard deviation is partly resolved: not one whose quartiles
// are those of a normal column with wide bounds, or whose deviation is known.
func TestPredictorsWithLongTails(t *testing.T) {
	m := modelstest.Compile(t, "bands.yaml", oneCategory)
	for _, c := range []struct {
		high, quartile float64
		is             bool
	}{{40, 9, true}, {40, 13.5, false}, {20, 9, false}} {
		k := ByTable1(m, []table1.Row{
			{Column: "x", Statistic: table1.SD, Value: 10, High: &c.high},
			{Column: "x", Statistic: table1.Quartile1, Value: 2},
			{Column: "x", Statistic: table1.Quartile3, Value: 2 + c.quartile},
		})
		if got, is := k.Tails["x"]; is != c.is || c.is && (!strings.Contains(got.Why, "sd of 10 or up to 40") || !got.Open || math.Abs(got.Share-15.0/16) > 1e-9) {
			t.Errorf("up to %g, quartiles %g apart: %+v", c.high, c.quartile, got)
		}
	}
}

// d3p does not know the family of censored times, unless it has no shape; of other responses there is a check.
func TestFamilyOfCensoredTimes(t *testing.T) {
	const columns = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    x: {type: real, lower: -1, upper: 1, scale: {center: 0, by: 1}}
    entry: {type: real, lower: 0, upper: 50}
    time: {type: real, lower: 0.5, upper: 100}
    event: {type: binary, levels: [no, yes]}
`
	const open = "d3p does not know whether the "
	for model, want := range map[string]string{
		"model: {formula: \"surv(time, event) ~ 1 + x\", family: log_logistic}\n":                                             open + "family log_logistic suits the censored time: family piecewise_exponential assumes no shape",
		"model: {formula: \"surv(entry, time, event) ~ 1 + x\", family: weibull}\n":                                           open + "family weibull suits the censored time: family piecewise_exponential assumes no shape",
		"model: {formula: \"surv(time, event) ~ 1 + x\", family: piecewise_exponential, cuts: [10, 30]}\n":                    "",
		"model: {formula: \"time ~ 1 + x\", family: weibull}\n":                                                               "",
		"core:\n  params:\n    b: normal(0, 1)\n  rows:\n    observe:\n      time: censored(weibull(1, exp(b * x)), event)\n": open + "distribution of the censored time is right",
	} {
		m := modelstest.Compile(t, "times.yaml", columns+model)
		if got := ByTable1(m, nil).Unchecked; got != want {
			t.Errorf("%s: %q, want %q", model, got, want)
		}
	}
}
