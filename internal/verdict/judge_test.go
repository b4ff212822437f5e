package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/naming"
	"d3p/internal/outputs"
	"d3p/internal/posterior"
	"d3p/internal/privacy/noise"
)

const verdictModel = `d3p: 1
name: groups
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    x: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}}
    band: {type: category, levels: [a, b, c]}
    site: {type: category, levels: [p, q]}
    y: {type: real, lower: -50, upper: 50, scale: {center: 0, by: 1}}
model:
  formula: y ~ 1 + x + band + (1 | site)
  family: normal
`

// verdicts are those about draws that are normal about 0 with the given sds by
// variable, 0.1 for others, or about means, under a prior with sd 1; groups' sds are about
// 0.5. Noise has a tenth of the variance, or shares by variable; with "all" none of the others. The iterates
// are at ends, about which they swing up and down, or go there from another number.
func verdicts(t *testing.T, m *models.Model, known Known, means, sds, shares, ends, swings map[string]float64) map[string]outputs.Verdict {
	t.Helper()
	const s = 2000
	rng := rand.New(rand.NewPCG(1, 1))
	drawn := outputs.DrawPrior(m, 2, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
	d := outputs.Draws{S: s, Variables: drawn.Variables}
	prior := outputs.Draws{S: s, Variables: d.Variables}
	d.Values, prior.Values = make([]float64, len(d.Variables)*s), make([]float64, len(d.Variables)*s)
	for v := range d.Variables {
		name := d.Variables[v].Name
		sd, ok := sds[name]
		if !ok {
			sd = 0.1
		}
		share, ok := shares[name]
		if !ok && shares["all"] == 0 {
			share = 0.1
		}
		d.Variables[v].NoiseShare = &share
		for i := range s {
			x := means[name] + sd*rng.NormFloat64()
			if strings.HasPrefix(name, "sd_") {
				x = 0.5 + 0.1*sd*rng.NormFloat64()
			}
			d.Values[v*s+i], prior.Values[v*s+i] = x, rng.NormFloat64()
		}
	}
	trace := &outputs.Trace{Names: drawn.Names}
	for i := range 2 * leastTraceSteps {
		trace.Steps = append(trace.Steps, i+1)
		for _, name := range trace.Names {
			x := ends[name] + swings[name]*float64(1-2*(i%2))
			if start, moves := ends["from "+name]; moves {
				x += (start - x) * (1 - float64(i+1)/(2*leastTraceSteps))
			}
			trace.Values = append(trace.Values, x)
		}
	}
	if ends == nil {
		trace = nil
	}
	Judge(m, &d, &prior, trace, known)
	out := map[string]outputs.Verdict{}
	for _, v := range d.Variables {
		out[v.Name] = *v.Verdict
	}
	return out
}

func TestVerdicts(t *testing.T) {
	m := modelstest.Compile(t, "groups.yaml", verdictModel)
	plenty := Known{Declared: 1000, Levels: map[string][]Level{
		"band": {{"a", 300, 5, true}, {"b", 300, 5, false}, {"c", 400, 5, false}}, "site": {{"p", 500, 5, true}, {"q", 500, 5, false}},
	}}
	rare := Known{Declared: 1000, Levels: map[string][]Level{"band": {{"a", 2, 1, true}, {"b", 598, 5, false}, {"c", 400, 5, false}}, "site": {{"p", 40, 5, true}, {"q", 960, 5, false}}}}
	rareOther := Known{Declared: 1000, Levels: map[string][]Level{"band": {{"a", 2, 1, false}, {"b", 500, 5, true}, {"c", 498, 5, false}}}}
	open := plenty
	open.Open = map[string]string{"band": "site"}
	within := plenty
	within.Within = map[string]string{"x": "site"}
	rarely, scarcely, often := plenty, plenty, plenty
	rarely.Events, scarcely.Events, often.Events = Level{"another y", 40, 20, false}, Level{"another y", 45, 5, false}, Level{"another y", 400, 60, false}
	counted, more := plenty, plenty
	counted.Usable, counted.UsableSD, more.Usable, more.UsableSD = 1010, 5, 1500, 5
	few := plenty
	few.Others = map[string]Level{"x": {"another x", 20, 30, false}}
	normal := plenty
	normal.Normal = true
	tail := plenty
	tail.Tails, tail.OpenSD = map[string]Tail{"x": {Why: "x has a long tail", Open: true}}, "the sd of y is open"
	farOut := plenty
	farOut.FarOut = FarOut{Records: 160, SD: 5}
	unlike := plenty
	unlike.FarOut = FarOut{Unlike: true}
	short, long, enough := plenty, plenty, plenty
	short.Steps, long.Steps, enough.Steps = 20, 400, 1000
	moving := map[string]float64{"b[x]": 0.3, "from b[x]": 1}
	one := func(name string, value float64) map[string]float64 { return map[string]float64{name: value} }
	for _, c := range []struct {
		name, of, want, why string
		known               Known
		means, sds          map[string]float64
		shares, ends        map[string]float64
		swings              map[string]float64
	}{
		{name: "clear", of: "b[x]", want: outputs.Resolved, known: plenty},
		{name: "clear effect", of: "r_site[p,Intercept]", want: outputs.Resolved, known: plenty},
		{name: "the prior", of: "b[x]", want: outputs.Not, why: "prior", known: plenty, sds: one("b[x]", 1)},
		{name: "half the prior", of: "b[x]", want: outputs.Partly, why: "prior", known: plenty, sds: one("b[x]", 0.8)},
		{name: "against the prior", of: "b[x]", want: outputs.Not, why: "the prior moves it by", known: plenty, means: one("b[x]", 2.5), sds: one("b[x]", 0.577)},
		{name: "beside one against the prior", of: "b[band=c]", want: outputs.Partly, why: "the prior moves b[x] by", known: plenty, means: one("b[x]", 2.5), sds: one("b[x]", 0.577)},
		{name: "sigma beside one against the prior", of: "sigma", want: outputs.Resolved, known: plenty, means: one("b[x]", 2.5), sds: one("b[x]", 0.577)},
		{name: "somewhat against the prior", of: "b[x]", want: outputs.Partly, why: "the prior moves it by", known: plenty, means: one("b[x]", 2), sds: one("b[x]", 0.32)},
		{name: "far from the prior, well known", of: "b[x]", want: outputs.Resolved, known: plenty, means: one("b[x]", 3)},
		{name: "an effect is shrunk by design", of: "r_site[p,Intercept]", want: outputs.Resolved, known: plenty, means: one("r_site[p,Intercept]", 2), sds: one("r_site[p,Intercept]", 0.3)},
		{name: "hardly a usable record", of: "b[x]", want: outputs.Not, why: "14 ± 65 records are usable", known: Known{Declared: 1000, Usable: 14, UsableSD: 65}},
		{name: "few usable records", of: "b[x]", want: outputs.Resolved, known: Known{Declared: 1000, Usable: 250, UsableSD: 65}},
		{name: "noise", of: "b[x]", want: outputs.Partly, why: "60 % of the variance", known: plenty, shares: one("b[x]", 0.6)},
		{name: "all noise", of: "b[x]", want: outputs.Not, why: "noise", known: plenty, shares: one("b[x]", 0.97)},
		{name: "no noise at all", of: "b[x]", want: outputs.Not, why: "leaves the privacy noise out", known: plenty, shares: one("all", 1)},
		{name: "the prior has no noise", of: "b[x]", want: outputs.Not, why: "the posterior is the prior", known: plenty, sds: one("b[x]", 1), shares: one("all", 1)},
		{name: "a billionth", of: "b[x]", want: outputs.Not, why: "leaves the privacy noise out", known: plenty, shares: map[string]float64{"all": 1, "sigma": 1e-9}},
		{name: "a billionth, of as many records as declared", of: "b[x]", want: outputs.Resolved, known: counted, shares: map[string]float64{"all": 1, "sigma": 1e-9}},
		{name: "a billionth, of more records than declared", of: "b[x]", want: outputs.Not, why: "as many rows as there are", known: more, shares: map[string]float64{"all": 1, "sigma": 1e-9}},
		{name: "no noise at all, of as many records as declared", of: "b[x]", want: outputs.Not, why: "leaves the privacy noise out", known: counted, shares: one("all", 1)},
		{name: "nearly no noise", of: "b[x]", want: outputs.Resolved, known: plenty, shares: map[string]float64{"all": 1, "sigma": 1e-6}},
		{name: "still moving", of: "b[x]", want: outputs.Not, why: "did not arrive", known: plenty, ends: map[string]float64{"b[x]": 0.3, "from b[x]": 1}},
		{name: "sigma beside one still moving", of: "sigma", want: outputs.Not, why: "what b[x] does not explain", known: plenty, ends: map[string]float64{"b[x]": 0.3, "from b[x]": 1, "sd_site[Intercept]": -math.Ln2}, means: one("sigma", 1)},
		{name: "beside one still moving", of: "b[band=c]", want: outputs.Partly, why: "did not arrive at b[x], and others", known: plenty, ends: map[string]float64{"b[x]": 0.3, "from b[x]": 1}, means: one("sigma", 1)},
		{name: "nearly there beside one still moving", of: "b[band=c]", want: outputs.Not, why: "did not arrive at b[x], and others", known: plenty, ends: map[string]float64{"b[x]": 0.3, "from b[x]": 1, "b[band=c]": 0.08, "from b[band=c]": 0.4}, means: one("sigma", 1)},
		{name: "beside one nearly there", of: "b[band=c]", want: outputs.Resolved, known: plenty, ends: map[string]float64{"b[x]": 0.08, "from b[x]": 0.4}, means: one("sigma", 1)},
		{name: "nearly there", of: "b[x]", want: outputs.Partly, why: "last steps", known: plenty, ends: map[string]float64{"b[x]": 0.08, "from b[x]": 0.4}},
		{name: "settled, and corrected", of: "b[x]", want: outputs.Resolved, known: plenty, ends: one("b[x]", 0.3), means: one("sigma", 1)},
		{name: "settled beside others that move", of: "b[x]", want: outputs.Not, why: "did not arrive", known: plenty, ends: map[string]float64{"b[x]": 0.3, "sigma": 0, "from sigma": 2, "Intercept": 0, "from Intercept": 2}},
		{name: "beside sigma still moving", of: "b[x]", want: outputs.Partly, why: "did not arrive at sigma", known: normal, ends: one("sigma", 0), means: one("sigma", 2)},
		{name: "beside sigma at its end", of: "b[x]", want: outputs.Resolved, known: normal, ends: one("sigma", 0), means: one("sigma", 1)},
		{name: "sigma still moving in another family", of: "b[x]", want: outputs.Partly, why: "did not arrive at sigma: the interval is right only if", known: plenty, ends: one("sigma", 0), means: one("sigma", 2)},
		{name: "other likelihoods", of: "b[x]", want: outputs.Partly, why: "the records' likelihoods", known: unlike, ends: one("sigma", 0), means: one("sigma", 1)},
		{name: "other likelihoods, and sigma far", of: "b[x]", want: outputs.Not, why: "(the fit did not arrive at sigma)", known: unlike, ends: one("sigma", 0), means: one("sigma", 2)},
		{name: "moving after few steps", of: "b[x]", want: outputs.Not, why: "did not arrive (type --steps 300 in a new fit, which pays again)", known: short, ends: moving},
		{name: "moving after enough steps", of: "b[x]", want: outputs.Not, why: "did not arrive (noise moves the last steps: type a larger --epsilon in a new fit, which pays again)", known: enough, ends: moving, shares: one("b[x]", 0.4)},
		{name: "moving after enough steps, hardly noise", of: "b[x]", want: outputs.Not, why: "did not arrive: the correction for clipping is right only if", known: enough, ends: moving},
		{name: "moving after many steps", of: "b[x]", want: outputs.Not, why: "did not arrive (type --steps 1200 in", known: long, ends: moving},
		{name: "beside one moving after many steps", of: "b[band=c]", want: outputs.Partly, why: "move with it (type --steps 1200 in", known: long, ends: moving, means: one("sigma", 1)},
		{name: "more steps do not help one that settled", of: "b[x]", want: outputs.Not, why: "though it settled: the correction for clipping", known: long, ends: one("b[x]", 0.8)},
		{name: "settled far away", of: "b[x]", want: outputs.Not, why: "did not arrive", known: plenty, ends: one("b[x]", 0.8)},
		{name: "swings about the result", of: "b[x]", want: outputs.Resolved, known: plenty, means: one("sigma", 1), ends: one("b[x]", 0.3), swings: one("b[x]", 0.25)},
		{name: "swings elsewhere", of: "b[x]", want: outputs.Not, why: "did not arrive", known: plenty, ends: one("b[x]", 0.7), swings: one("b[x]", 0.25)},
		{name: "a point", of: "b[x]", want: outputs.Not, why: "a point has no interval", known: plenty, means: one("b[x]", 2), sds: one("b[x]", 0), ends: one("b[x]", 9)},
		{name: "a constant", of: "b[x]", want: outputs.Resolved, known: plenty, means: one("b[x]", 1), sds: one("b[x]", 0)},
		{name: "rare reference", of: "b[band=c]", want: outputs.Not, why: "band=a", known: rare},
		{name: "intercept of a rare reference", of: "Intercept", want: outputs.Not, why: "band=a", known: rare},
		{name: "intercept of a common reference", of: "Intercept", want: outputs.Resolved, known: rareOther},
		{name: "the reference is not the first", of: "b[band=c]", want: outputs.Resolved, known: rareOther},
		{name: "a rare outcome", of: "b[x]", want: outputs.Not, why: "40 ± 20 records have another y", known: rarely},
		{name: "a scarce outcome", of: "b[x]", want: outputs.Partly, why: "45 ± 5 records have another y", known: scarcely},
		{name: "a common outcome", of: "b[x]", want: outputs.Resolved, known: often},
		{name: "few other numbers", of: "b[x]", want: outputs.Not, why: "20 ± 30 records have another x", known: few},
		{name: "few other numbers of another column", of: "b[band=c]", want: outputs.Resolved, known: few},
		{name: "a long tail", of: "b[x]", want: outputs.Partly, why: "x has a long tail", known: tail},
		{name: "a long tail of another column, and a response that is not normal", of: "b[band=c]", want: outputs.Resolved, known: tail},
		{name: "an open sd of the response", of: "sigma", want: outputs.Partly, why: "open", known: tail},
		{name: "records far out, half of a level", of: "b[band=c]", want: outputs.Not, why: "they may be those that have band=a", known: farOut},
		{name: "records far out, of any level", of: "b[x]", want: outputs.Partly, why: "160 ± 5 records are far", known: farOut},
		{name: "few in a group", of: "r_site[p,Intercept]", want: outputs.Partly, why: "site=p", known: rare},
		{name: "group like the spread", of: "r_site[p,Intercept]", want: outputs.Not, why: "spread between groups", known: plenty, sds: one("r_site[p,Intercept]", 0.49)},
		{name: "spread beside it", of: "sigma", want: outputs.Not, why: "sd_site[Intercept] is not resolved", known: plenty, shares: one("sd_site[Intercept]", 0.99)},
		{name: "sd is noise", of: "r_site[q,Intercept]", want: outputs.Not, why: "sd_site[Intercept] is not resolved", known: plenty, shares: one("sd_site[Intercept]", 0.99)},
		{name: "perhaps constant", of: "b[band=c]", want: outputs.Not, why: "band may have one value for all records of a site", known: open},
		{name: "not that one", of: "b[x]", want: outputs.Resolved, known: open},
		{name: "constant within, beside a known spread", of: "b[x]", want: outputs.Resolved, known: within},
		{name: "constant within, beside a vague spread", of: "b[x]", want: outputs.Partly, why: "sd_site[Intercept] is not resolved: 60 %", known: within, shares: one("sd_site[Intercept]", 0.6)},
		{name: "not within", of: "b[band=c]", want: outputs.Resolved, known: within, shares: one("sd_site[Intercept]", 0.6)},
		{name: "assumed", of: "b[x]", want: outputs.Not, why: "declared", known: Known{Declared: 1000, Assumed: "it is declared"}},
		{name: "assumed", of: "Intercept", want: outputs.Not, why: "declared", known: Known{Declared: 1000, Assumed: "it is declared"}},
		{name: "assumed", of: "sigma", want: outputs.Not, why: "declared", known: Known{Declared: 1000, Assumed: "it is declared"}},
		{name: "assumed to be independent", of: "b[x]", want: outputs.Not, why: "together", known: Known{Declared: 1000, Counted: true, Assumed: "vary together"}},
		{name: "assumed to be independent", of: "Intercept", want: outputs.Partly, why: "together", known: Known{Declared: 1000, Counted: true, Assumed: "vary together"}},
	} {
		got := verdicts(t, m, c.known, c.means, c.sds, c.shares, c.ends, c.swings)[c.of]
		if got.Value != c.want || !strings.Contains(got.Why, c.why) || (got.Value == outputs.Resolved) != (got.Why == "") {
			t.Errorf("%s: %s is %+v, want %s because of %q", c.name, c.of, got, c.want, c.why)
		}
	}
}

// The levels of a product come in one order, so that the verdict's words are the same in every run.
func TestLevelsOfProducts(t *testing.T) {
	known := Known{Levels: map[string][]Level{"band": {{"a", 2, 1, true}, {"b", 5, 1, false}}, "site": {{"p", 4, 1, true}, {"q", 9, 1, false}}}}
	for range 50 {
		var names []string
		for _, level := range known.levelsOf("b[band=b:site=q]", nil) {
			names = append(names, level.Name)
		}
		if got := strings.Join(names, " "); got != "band=a band=b site=p site=q" {
			t.Fatal(got)
		}
	}
}

func TestVerdictOfTheWhole(t *testing.T) {
	row := func(name, value string) outputs.Summary {
		return outputs.Summary{Variable: name, SD: 1, Verdict: &outputs.Verdict{Value: value}}
	}
	for _, c := range []struct {
		rows  []outputs.Summary
		known Known
		want  string
	}{
		{[]outputs.Summary{row("a", outputs.Resolved), row("b", outputs.Resolved)}, Known{Declared: 1000}, outputs.Resolved},
		{[]outputs.Summary{row("a", outputs.Resolved), row("b", outputs.Not)}, Known{Declared: 1000}, outputs.Partly},
		{[]outputs.Summary{row("a", outputs.Not), row("b", outputs.Not)}, Known{Declared: 1000}, outputs.Not},
		{[]outputs.Summary{row("a", outputs.Resolved)}, Known{Declared: 1000, Usable: 950, UsableSD: 5}, outputs.Resolved},
		{[]outputs.Summary{row("a", outputs.Resolved)}, Known{Declared: 1000, Usable: 700, UsableSD: 5}, outputs.Partly},
		{[]outputs.Summary{row("a", outputs.Not)}, Known{Declared: 1000, Usable: 700, UsableSD: 5}, outputs.Not},
		{[]outputs.Summary{row("a", outputs.Resolved)}, Known{Declared: 1000, Usable: 3, UsableSD: 5}, outputs.Not},
		{[]outputs.Summary{row("a", outputs.Resolved)}, Known{Declared: 1000, Usable: -2, UsableSD: 5}, outputs.Not},
		{[]outputs.Summary{row("a", outputs.Resolved)}, Known{Declared: 1000, Usable: 0, UsableSD: 5}, outputs.Not},
		{[]outputs.Summary{row("a", outputs.Resolved)}, Known{Declared: 1000, Usable: 700, UsableSD: 200}, outputs.Resolved},
		{[]outputs.Summary{row("a", outputs.Resolved)}, Known{Declared: 1000, Usable: 1050, UsableSD: 5}, outputs.Resolved},
		{[]outputs.Summary{row("a", outputs.Resolved)}, Known{Declared: 1000, Usable: 1500, UsableSD: 5}, outputs.Partly},
		{[]outputs.Summary{row("a", outputs.Not)}, Known{Declared: 1000, Usable: 1500, UsableSD: 5}, outputs.Not},
	} {
		if got := Whole(c.rows, c.known); got.Value != c.want {
			t.Errorf("%+v: %+v, want %s", c.known, got, c.want)
		}
	}
	for value, want := range map[string]outputs.Verdict{
		outputs.Resolved: {Value: outputs.Resolved, Why: "open"}, outputs.Partly: {Value: outputs.Partly, Why: "1 of 2 resolved, 1 partly, 0 not; b: ; open"}, outputs.Not: {Value: outputs.Partly, Why: "1 of 2 resolved, 0 partly, 1 not; b: ; open"},
	} {
		if got := Whole([]outputs.Summary{row("a", outputs.Resolved), row("b", value)}, Known{Declared: 1000, Unchecked: "open"}); got != want {
			t.Errorf("beside what is not checked: %+v, want %+v", got, want)
		}
	}
	if got := Whole([]outputs.Summary{row("a", outputs.Not)}, Known{Declared: 1000, Unchecked: "open"}); strings.Contains(got.Why, "open") {
		t.Errorf("of nothing that is resolved: %+v", got)
	}
	if got := Whole(nil, Known{}); got.Value != "" {
		t.Errorf("of nothing: %+v", got)
	}
}

// TestEmptyComponents: a component without weight takes its parameters along.
func TestEmptyComponents(t *testing.T) {
	weights := []string{"1", "2"}
	d := outputs.Draws{S: 2, Groups: []outputs.Group{
		{Name: "w", Dims: []outputs.Dim{{Name: "k", Labels: weights}}, First: 0, Size: 2}, {Name: "mu", Dims: []outputs.Dim{{Name: "k", Labels: weights}, {Name: "d", Labels: weights}}, First: 2, Size: 4},
	}}
	for i := range 6 {
		v := outputs.Variable{Verdict: &outputs.Verdict{Value: outputs.Resolved}}
		if i < 2 {
			v.Constraint = "simplex"
		}
		d.Variables = append(d.Variables, v)
	}
	d.Values = []float64{0.998, 0.998, 0.002, 0.002, 0, 0, 0, 0, 0, 0, 0, 0}
	(&judged{Draws: &d, known: Known{Declared: 1000}}).judgeComponents()
	for v, want := range []string{outputs.Resolved, outputs.Not, outputs.Resolved, outputs.Resolved, outputs.Not, outputs.Not} {
		if got := d.Variables[v].Verdict.Value; got != want {
			t.Errorf("variable %d is %s, want %s", v, got, want)
		}
	}
}

// The sigma of Student's t is no better known than the degrees of freedom allow.
func TestSigmaBesideDegreesOfFreedom(t *testing.T) {
	for _, c := range []struct {
		noise float64
		want  string
	}{{0.1, outputs.Resolved}, {0.97, outputs.Partly}} {
		small := 0.1
		d := outputs.Draws{S: 500, Variables: []outputs.Variable{{Name: "sigma", NoiseShare: &small}, {Name: "nu", NoiseShare: &c.noise}}}
		d.Values = make([]float64, 2*d.S)
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range d.Values {
			d.Values[i] = math.Exp(0.1 * rng.NormFloat64())
		}
		Judge(nil, &d, nil, nil, Known{})
		if got := *d.Variables[0].Verdict; got.Value != c.want || (c.want == outputs.Partly) != strings.Contains(got.Why, "it moves with nu") {
			t.Errorf("with a share of %g: %+v, want %s", c.noise, got, c.want)
		}
	}
}

// A fit that did not arrive at a coefficient, an intercept or a threshold misses it; one of a spread is no reason for others.
func TestMissedCoefficients(t *testing.T) {
	for name, want := range map[string]string{"b[x]": "b[x]", "Intercept": "Intercept", "thresholds[2]": "thresholds[2]", "sigma": "", "sd_g[Intercept]": ""} {
		d := &outputs.Draws{S: 2, Values: []float64{1, 3, 1, 3}, Variables: []outputs.Variable{{Name: "b[z]"}, {Name: name}}}
		at := &judged{Draws: d, arrival: arrival{[]float64{2, 9}, []float64{0.1, 0.1}, []bool{false, false}}}
		if got := at.missed(); got != want {
			t.Errorf("far from %s: %q", name, got)
		}
	}
}

// A coefficient of a curve is partly resolved beside another one that is not; those of other curves are resolved.
func TestCoefficientsOfCurves(t *testing.T) {
	d := &outputs.Draws{S: 2, Values: []float64{1, 1.1, 2, 2.1, 3, 3.1}, Variables: []outputs.Variable{{Name: "s_x[1]"}, {Name: "s_x[2]"}, {Name: "s_z[1]"}}}
	for i, value := range []string{outputs.Not, outputs.Resolved, outputs.Resolved} {
		d.Variables[i].Verdict = &outputs.Verdict{Value: value, Why: "the prior"}
	}
	(&judged{Draws: d}).judgeCurves()
	for i, want := range []outputs.Verdict{{Value: outputs.Not, Why: "the prior"}, {Value: outputs.Partly, Why: "s_x[1] of the same curve is not resolved: the prior"}, {Value: outputs.Resolved, Why: "the prior"}} {
		if got := *d.Variables[i].Verdict; got != want {
			t.Errorf("%s: %+v, want %+v", d.Variables[i].Name, got, want)
		}
	}
}

// An intercept that is known only together with a coefficient is no better resolved than it.
func TestInterceptsBesideCoefficients(t *testing.T) {
	for _, c := range []struct {
		with float64 // share of the intercept's draws that is the coefficient's
		want string
	}{{0.99, outputs.Not}, {0.5, outputs.Resolved}} {
		d := outputs.Draws{S: 500, Variables: []outputs.Variable{{Name: "Intercept"}, {Name: "b[x]"}}}
		d.Values = make([]float64, 2*d.S)
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range d.S {
			x := rng.NormFloat64()
			d.Values[i], d.Values[d.S+i] = c.with*x+(1-c.with)*rng.NormFloat64(), x
		}
		Judge(nil, &d, nil, nil, Known{Others: map[string]Level{"x": {"another x", 1, 4, false}}})
		if got := *d.Variables[0].Verdict; got.Value != c.want || (c.want == outputs.Not) != strings.Contains(got.Why, "b[x], which is not resolved: about 1 ± 4") {
			t.Errorf("with %g of it: %+v, want %s", c.with, got, c.want)
		}
	}
}

// An intercept may move with several coefficients and with none of them alone.
func TestInterceptsBesideSeveralCoefficients(t *testing.T) {
	for known, want := range map[string]string{"x": outputs.Resolved, "x y": outputs.Not} {
		d := outputs.Draws{S: 500, Variables: []outputs.Variable{{Name: "Intercept"}, {Name: "b[x]"}, {Name: "b[y]"}}}
		d.Values = make([]float64, 3*d.S)
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range d.S {
			x, y := rng.NormFloat64(), rng.NormFloat64()
			d.Values[i], d.Values[d.S+i], d.Values[2*d.S+i] = x+y+0.2*rng.NormFloat64(), x, y
		}
		Judge(nil, &d, nil, nil, Known{Constant: strings.Fields(known)})
		if got := d.Variables[0].Verdict.Value; got != want {
			t.Errorf("beside %s without spread: %s, want %s", known, got, want)
		}
	}
}

// A residual standard deviation that may be tiny is not resolved, however small its interval is
// beside the prior's.
func TestSpreadOfWhichOnlyTheUpperEndIsKnown(t *testing.T) {
	for sd, want := range map[float64]string{0.3: outputs.Resolved, 1: outputs.Partly} {
		const s = 4000
		rng := rand.New(rand.NewPCG(2, 2))
		d := &outputs.Draws{S: s, Variables: []outputs.Variable{{Name: "sigma"}, {Name: "sd_site[Intercept]"}, {Name: "b[x]"}}}
		prior := &outputs.Draws{S: s, Variables: d.Variables}
		for range s {
			d.Values, prior.Values = append(d.Values, 0.1*math.Exp(sd*rng.NormFloat64())), append(prior.Values, math.Abs(rng.NormFloat64()))
		}
		d.Values, prior.Values = slices.Repeat(d.Values, 3), slices.Repeat(prior.Values, 3)
		for v, want := range []string{want, want, outputs.Resolved} {
			if got := worst(outputs.Verdict{Value: outputs.Resolved}, (&judged{Draws: d, prior: prior}).besidePrior(v)); got.Value != want {
				t.Errorf("%s, log sd %g: %+v, want %s", d.Variables[v].Name, sd, got, want)
			}
		}
	}
}

// A normal posterior resolves nothing if effects of groups correlate with nothing in it: a mean-field one, or a
// joint normal of whitened coordinates. With correlations, or without groups, it may.
func TestNothingIsResolvedBesideLoneEffects(t *testing.T) {
	grouped := modelstest.Compile(t, "groups.yaml", verdictModel)
	plain := modelstest.Compile(t, "plain.yaml", strings.Replace(verdictModel, " + (1 | site)", "", 1))
	at := func(m *models.Model, name string) int {
		return m.Params[slices.IndexFunc(m.Params, func(p models.Param) bool { return p.Name == name })].Offset
	}
	for _, c := range []struct {
		name  string
		m     *models.Model
		joint [2]string // parameters that correlate, each by its first number
		want  string
	}{
		{"mean-field", grouped, [2]string{}, outputs.Not},
		{"intercept and slope correlate", grouped, [2]string{"Intercept", "b"}, outputs.Not},
		{"intercept and effect correlate", grouped, [2]string{"Intercept", "z_site"}, outputs.Resolved},
		{"without groups", plain, [2]string{}, outputs.Resolved},
	} {
		n := c.m.P
		p := &posterior.Posterior{Guide: guide.MeanField{}, Mean: make([]float64, n), LogSD: slices.Repeat([]float64{-4}, n), VarDP: slices.Repeat([]float64{1e-5}, n)}
		p.Mean[at(c.m, "Intercept")] = 0.5
		p.Lambda = append(slices.Clone(p.Mean), p.LogSD...)
		if c.joint[0] != "" {
			full, factor := guide.NewFullRank(n), make([]float64, n*(n+1)/2)
			for j := range n {
				factor[j*(j+1)/2+j] = math.Exp(-4)
			}
			j, k := at(c.m, c.joint[0]), at(c.m, c.joint[1])
			factor[max(j, k)*(max(j, k)+1)/2+min(j, k)] = 0.1 * math.Exp(-4)
			p.Guide, p.Lambda = full, make([]float64, full.Size())
			full.Set(p.Lambda, p.Mean, factor)
		}
		d := outputs.DrawPosterior(c.m, p, 500, noise.Public(1).Stream(noise.PosteriorDraws))
		Judge(c.m, &d, nil, nil, Known{Declared: 1000})
		for _, v := range d.Variables {
			want := c.want
			switch base, _ := naming.Split(v.Name); {
			case base == naming.Slopes && want == outputs.Not:
				want = outputs.Partly
			case base != naming.Slopes && base != naming.Intercept:
				continue
			}
			if v.Verdict.Value != want {
				t.Errorf("%s: %s is %s (%s), want %s", c.name, v.Name, v.Verdict.Value, v.Verdict.Why, want)
			}
		}
	}
}

// The standard deviation of intercepts where ages are 0 follows from that of slopes and the correlation, unless 0 is the center.
func TestSpreadOfInterceptsAtZero(t *testing.T) {
	for _, c := range []struct {
		center, noise float64 // the center in the column's own unit, the share of noise of the correlation
		want          string
	}{{3, 0.1, outputs.Resolved}, {3, 0.97, outputs.Not}, {0, 0.97, outputs.Resolved}} {
		small := 0.1
		d := outputs.Draws{S: 500, Variables: []outputs.Variable{
			{Name: "sd_g[Intercept]", NoiseShare: &small}, {Name: "sd_g[age]", NoiseShare: &small},
			{Name: "cor_g", NoiseShare: &c.noise}, {Name: "sd_g_raw[Intercept]", NoiseShare: &small}}}
		d.Values = make([]float64, 4*d.S)
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range d.S {
			a, b, rho := math.Exp(0.1*rng.NormFloat64()), math.Exp(0.1*rng.NormFloat64()), 0.1*rng.NormFloat64()
			d.Values[i], d.Values[d.S+i], d.Values[2*d.S+i] = a, b, rho
			d.Values[3*d.S+i] = math.Sqrt(a*a - 2*c.center*rho*a*b + c.center*c.center*b*b)
		}
		Judge(nil, &d, nil, nil, Known{})
		if got := *d.Variables[3].Verdict; got.Value != c.want || (c.want == outputs.Not) != strings.Contains(got.Why, "follows from cor_g") {
			t.Errorf("center %g, share %g: %+v, want %s", c.center, c.noise, got, c.want)
		}
	}
}
