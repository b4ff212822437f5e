package models_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/simulate"
	"d3p/internal/stattest"
)

const twinModel = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    height: {type: real, lower: -1000, upper: 1000, scale: {center: 100, by: 10}}
    visits: {type: integer, lower: 0, upper: 100000}
    ill:    {type: binary, levels: ["no", "yes"]}
    eye:    {type: category, levels: [blue, brown, green]}
    grade:  {type: ordinal, levels: [I, II, III, IV]}
  missing: {default: model}
twin:
  components: 2
  features: {height: normal, visits: poisson, ill: bernoulli, eye: categorical, grade: ordered_logistic}
  priors:
    visits.rate: gamma(2, 0.1)
    na: beta(5, 5)
`

// drawn are parameters from the prior, and their values by name.
func drawn(m *models.Model, rng testRand) (theta []float64, at map[string]float64) {
	theta, at = make([]float64, m.P), make(map[string]float64)
	m.NewPriorSampler().Draw(theta, rng)
	values := make([]float64, m.Constrained)
	m.Constrain(values, theta)
	for i, name := range m.Names() {
		at[name] = values[i]
	}
	return theta, at
}

// TestTwinLaw compares a synthetic table with the mixture's own marginals at
// parameters drawn from the prior: each share of missing values, level and
// count, and the law of the number.
func TestTwinLaw(t *testing.T) {
	m := compile(t, twinModel)
	rng := testRand{rand.New(rand.NewPCG(21, 22))}
	theta, at := drawn(m, rng)
	twin, err := simulate.NewTwin(m)
	if err != nil {
		t.Fatal(err)
	}
	const n = 20000
	table := twin.Table(n)
	if err := twin.Draw(table, 0, n, theta, rng); err != nil {
		t.Fatal(err)
	}
	for j, c := range table.Columns {
		name := c.Name.V
		// weight is the probability of a component and a value that is there.
		weight := func(k string) float64 { return at["weights["+k+"]"] * (1 - at[name+"_na["+k+"]"]) }
		there := weight("1") + weight("2")
		mix := func(p func(k string) float64) float64 {
			return (weight("1")*p("1") + weight("2")*p("2")) / there
		}
		var present []float64
		for _, v := range table.Values[j] {
			if !math.IsNaN(v) {
				present = append(present, v)
			}
		}
		stattest.Require(t, name+" missing", stattest.Binomial(len(present), n, there))
		count := func(is func(float64) bool) (k int) {
			for _, v := range present {
				if is(v) {
					k++
				}
			}
			return k
		}
		switch name {
		case "height":
			stattest.Require(t, name, stattest.KolmogorovSmirnov(present, func(x float64) float64 {
				return mix(func(k string) float64 {
					z := ((x-100)/10 - at["height_loc["+k+"]"]) / at["height_scale["+k+"]"]
					return math.Erfc(-z/math.Sqrt2) / 2
				})
			}))
		case "visits":
			const most = 12
			p := mix(func(k string) float64 {
				rate, term, sum := at["visits_rate["+k+"]"], 0.0, 0.0
				term = math.Exp(-rate)
				for i := 0; i <= most; i++ {
					sum += term
					term *= rate / float64(i+1)
				}
				return sum
			})
			stattest.Require(t, name, stattest.Binomial(count(func(v float64) bool { return v <= most }), len(present), p))
		case "ill":
			p := mix(func(k string) float64 { return at["ill_probs["+k+"]"] })
			stattest.Require(t, name, stattest.Binomial(count(func(v float64) bool { return v == 1 }), len(present), p))
		case "eye":
			for l, level := range c.LevelNames() {
				p := mix(func(k string) float64 { return at["eye_probs["+k+","+level+"]"] })
				stattest.Require(t, name+" "+level, stattest.Binomial(count(func(v float64) bool { return v == float64(l) }), len(present), p))
			}
		case "grade":
			for l, cut := range []string{"1", "2", "3"} { // P(x <= l) = sigmoid(cut)
				p := mix(func(k string) float64 { return 1 / (1 + math.Exp(-at["grade_cutpoints["+k+","+cut+"]"])) })
				stattest.Require(t, name+" "+cut, stattest.Binomial(count(func(v float64) bool { return v <= float64(l) }), len(present), p))
			}
		}
	}
}

// TestTwinConstraints checks that every record meets the constraints, that one
// about a missing value counts as met, and that contradictory ones are an error.
func TestTwinConstraints(t *testing.T) {
	m := compile(t, twinModel+"  constraints: [visits >= 5 or ill == 'no', \"height > 95\"]\n")
	rng := testRand{rand.New(rand.NewPCG(23, 24))}
	theta := make([]float64, m.P)
	m.NewPriorSampler().Draw(theta, rng)
	twin, err := simulate.NewTwin(m)
	if err != nil {
		t.Fatal(err)
	}
	const n = 3000
	table := twin.Table(n)
	if err := twin.Draw(table, 0, n, theta, rng); err != nil {
		t.Fatal(err)
	}
	height, visits, ill := table.Values[0], table.Values[1], table.Values[2]
	missing := 0
	for b := range n {
		if height[b] <= 95 || visits[b] < 5 && ill[b] == 1 {
			t.Fatalf("record %d: height %g, visits %g, ill %g", b, height[b], visits[b], ill[b])
		}
		if math.IsNaN(height[b]) {
			missing++
		}
	}
	if missing == 0 {
		t.Error("no missing value met the constraints")
	}

	m = compile(t, strings.NewReplacer("default: model", "default: reject", "    na: beta(5, 5)\n", "").Replace(twinModel)+"  constraints: [visits < 0]\n")
	theta = theta[:m.P]
	m.NewPriorSampler().Draw(theta, rng)
	if twin, err = simulate.NewTwin(m); err != nil {
		t.Fatal(err)
	}
	if err := twin.Draw(twin.Table(1), 0, 1, theta, rng); err == nil || !strings.Contains(err.Error(), "contradict the fitted model") {
		t.Errorf("error %v", err)
	}
}

// TestTwinOfCore draws from core blocks: a column that another one depends on
// comes first, and a regression has no twin.
func TestTwinOfCore(t *testing.T) {
	m := compile(t, dataBlock(1, "ill: {type: binary}")+`core:
  params:
    b: normal(0, 1)
  rows:
    observe:
      ill: bernoulli(logits=b * x1)
      x1: normal(0, 2)
`)
	twin, err := simulate.NewTwin(m)
	if err != nil {
		t.Fatal(err)
	}
	const n = 4000
	table := twin.Table(n)
	if err := twin.Draw(table, 0, n, []float64{50}, testRand{rand.New(rand.NewPCG(25, 26))}); err != nil {
		t.Fatal(err)
	}
	for b, x := range table.Values[0] {
		// P(wrong side at |x| > 1) < 1e-21
		if ill := table.Values[1][b] == 1; math.Abs(x) > 1 && ill != (x > 0) {
			t.Fatalf("record %d: x1 %g, ill %t", b, x, ill)
		}
	}

	for want, observe := range map[string]string{
		"no distribution of x2":                               "x1: normal(b * x2, 1)",
		"the distributions of x1 and x2 depend on each other": "x1: normal(b * x2, 1)\n      x2: normal(x1, 1)",
	} {
		m := compile(t, dataBlock(2)+"core:\n  params:\n    b: normal(0, 1)\n  rows:\n    observe:\n      "+observe+"\n")
		if _, err := simulate.NewTwin(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// A constraint that compares dates of different origins would be off by years.
func TestConstraintsOfDates(t *testing.T) {
	text := `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    admitted: {type: date, lower: 2012-01-01, upper: 2022-12-31}
    born: {type: date, lower: 1910-01-01, upper: 2022-12-31}
twin: {engine: marginals, constraints: [born <= admitted]}
`
	_, err := models.Read("t.yaml", []byte(text), nil)
	if err == nil || !strings.Contains(err.Error(), "t.yaml:8:41: born counts days from 1910-01-01, and admitted from 2012-01-01") {
		t.Errorf("dates of two origins: %v", err)
	}
	if _, err := models.Read("t.yaml", []byte(strings.Replace(text, "12-31}\ntwin", "12-31, origin: 2012-01-01}\ntwin", 1)), nil); err != nil {
		t.Errorf("dates of one origin: %v", err)
	}
}

// Columns of a mixture take memory of the square of their levels: too many are refused before
// that.
func TestTwinBoundsLevels(t *testing.T) {
	read := func(columns, levels int) string {
		var b strings.Builder
		b.WriteString("d3p: 1\ndata:\n  unit: {entity: person, rows_per_unit: 1}\n  rows: {public: 100}\n  columns:\n")
		for k := range columns {
			fmt.Fprintf(&b, "    ward%d: {type: category, levels: [", k)
			for i := range levels {
				fmt.Fprintf(&b, "w%d, ", i)
			}
			b.WriteString("]}\n")
		}
		b.WriteString("twin: {engine: marginals}\n")
		_, err := models.Read("m.yaml", []byte(b.String()), nil)
		return fmt.Sprint(err)
	}
	if err := read(1, 1000); err != "<nil>" {
		t.Error(err)
	}
	if err := read(1, 100_000); !strings.Contains(err, "column ward0 has 100000 levels, and a twin's column at most 1000") {
		t.Error(err)
	}
	if err := read(21, 1000); !strings.Contains(err, "columns have too many levels together") {
		t.Error(err)
	}
}
