package whiten

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/law"
	"d3p/internal/models/modelstest"
)

const whitenColumns = `d3p: 1
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    x: {type: real, lower: -100, upper: 100, scale: {center: 20, by: 4}}
    z: {type: real, lower: -100, upper: 100, scale: {center: 0, by: 1}}
    y: {type: real, lower: -1000, upper: 1000, scale: {center: 50, by: 10}}
    n: {type: integer, lower: 0, upper: 1000, scale: {center: 7, by: 0.1}}
    d: {type: binary}
model:
  formula: FORMULA
  family: FAMILY
`

type testRand struct{ *rand.Rand }

func (r testRand) Normal() float64  { return r.NormFloat64() }
func (r testRand) Uniform() float64 { return r.Float64() }

// whitenLaw has x and z with a correlation of 0.9, y and x with one of 0.6.
func whitenLaw(m *models.Model) *law.Law {
	l := m.DeclaredLaw()
	l.Columns[4].Shares = []float64{0.98, 0.02}
	k := len(l.Columns)
	l.Correlation = make([]float64, k*k)
	for i := range k {
		l.Correlation[i*k+i] = 1
	}
	set := func(i, j int, r float64) { l.Correlation[i*k+j], l.Correlation[j*k+i] = r, r }
	set(0, 1, 0.9)
	set(0, 2, 0.6)
	set(1, 2, 0.54)
	return l
}

// At φ = 0 a fit begins at the regression that the law suggests: the response's mean,
// the slopes, and what these leave of its standard deviation. Each tolerance is 6
// standard errors of 10,000 records or more.
func TestWhitenedStartsAtTheRegression(t *testing.T) {
	for _, test := range []struct {
		formula, family string
		want            map[string]float64
		tolerance       float64
	}{
		{"y ~ x + z", "normal", map[string]float64{"Intercept": 0, "b[x]": 0.6, "b[z]": 0, "sigma": 0.8}, 0.12},
		{"n ~ x", "poisson", map[string]float64{"Intercept": math.Log(7), "b[x]": 0}, 0.02},
		{"d ~ x", "bernoulli", map[string]float64{"Intercept": math.Log(0.02 / 0.98), "b[x]": 0}, 0.45},
		// beside an offset, the start is that of what the offset leaves
		{"y ~ x + offset(1 + (z - x) / 10)", "normal", map[string]float64{"Intercept": 1, "b[x]": 0.91, "sigma": 0.8}, 0.12},
		{"n ~ x + offset(3)", "poisson", map[string]float64{"Intercept": math.Log(7) - 3, "b[x]": 0}, 0.02},
		{"n ~ x + offset(x / 4)", "poisson", map[string]float64{"Intercept": math.Log(7) - 5.5, "b[x]": -1}, 0.12},
		{"d ~ x + offset(3)", "bernoulli", map[string]float64{"Intercept": math.Log(0.02/0.98) - 3, "b[x]": 0}, 0.45},
		{"n ~ x + offset(-(9^(999 + 0 * z)))", "poisson", map[string]float64{"Intercept": math.Log(7), "b[x]": 0}, 0.02},
		// of 2 % of the times the end is known
		{"surv(n, d) ~ x", "exponential", map[string]float64{"Intercept": math.Log(7 / 0.1 / 0.02), "b[x]": 0}, 0.02},
		{"surv(n, d) ~ x", "gompertz", map[string]float64{"Intercept": -math.Log(7 / 0.1 / 0.02), "b[x]": 0, "shape": 1}, 0.02},
	} {
		m := modelstest.Compile(t, "whiten.yaml", strings.NewReplacer("FORMULA", test.formula, "FAMILY", test.family, "lower: 0,", "lower: 1,").Replace(whitenColumns))
		w, err := m.In(Coordinates(m, whitenLaw(m), 0.002, math.Inf(1), testRand{rand.New(rand.NewPCG(1, 1))}))
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, m.Constrained)
		w.Constrain(got, make([]float64, m.P))
		for i, name := range m.Names() {
			if math.Abs(got[i]-test.want[name]) > test.tolerance {
				t.Errorf("%s: %s starts at %v, want %v", test.formula, name, got[i], test.want[name])
			}
		}
	}
}

// Where noisy counts show no outcome, a fit begins at half of their noise: at -7, what 20 records in 1000
// say of a rate is clipped, and its posterior is that of the prior.
func TestStartWhereNoOutcomeIsSeen(t *testing.T) {
	const noise = 0.04
	for family, test := range map[string]struct {
		formula string
		want    float64
	}{
		"poisson":           {"n ~ x", math.Log(noise / 2)},
		"negative_binomial": {"n ~ x", math.Log(noise / 2)},
		"bernoulli":         {"d ~ x", math.Log(noise / 2 / (1 - noise/2))},
	} {
		m := modelstest.Compile(t, "whiten.yaml", strings.NewReplacer("FORMULA", test.formula, "FAMILY", family).Replace(whitenColumns))
		l := m.DeclaredLaw()
		n, d := &l.Columns[3], &l.Columns[4]
		n.Edges, n.Shares, n.Counted = []float64{-0.5, 0.5, 1.5}, []float64{0.9995, 0.0005}, []law.Counted{{Parts: 1, Share: 1.01, SD: noise}, {Parts: 1, Share: -0.01, SD: noise}}
		d.Shares, d.ShareSD = []float64{1, 0}, []float64{noise, noise}
		c := Coordinates(m, l, 0.002, math.Inf(1), testRand{rand.New(rand.NewPCG(1, 1))})
		if got := c.Origin[m.LinearPredictors()[0].Level.Offset]; math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: the intercept starts at %v, want %v", family, got, test.want)
		}
	}
}

// The whitened columns have mean 0 and variance 1 and do not correlate.
func TestWhitenedColumnsDoNotCorrelate(t *testing.T) {
	m := modelstest.Compile(t, "whiten.yaml", strings.NewReplacer("FORMULA", "y ~ x * z + d", "FAMILY", "normal").Replace(whitenColumns))
	rng := testRand{rand.New(rand.NewPCG(1, 1))}
	l := whitenLaw(m)
	c := Coordinates(m, l, 0.002, math.Inf(1), rng)
	r := &c.Predictors[0]
	designs, _, _ := designs(m, m.LinearPredictors(), drawRows(m, l, rng))
	k := len(r.Center)
	squares := make([]float64, k*k)
	unit := c.Unit[0] // of the intercept, and of the columns
	for n := 0; n < len(designs[0]); n += k {
		work := make([]float64, k)
		for j := range work {
			for i := range k {
				work[j] += r.Matrix[i*k+j] / unit * (designs[0][n+i] - r.Center[i])
			}
		}
		for i := range k {
			for j := range k {
				squares[i*k+j] += work[i] * work[j] / lawRecords
			}
		}
	}
	for i := range k {
		for j := range k {
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(squares[i*k+j]-want) > 0.25 { // a level of 2 % has 200 records
				t.Errorf("product of columns %d and %d has mean %v, want %v", i, j, squares[i*k+j], want)
			}
		}
	}
}

// A direction that the noise of the law's correlations may have made narrow is not
// stretched to variance 1. Its variance is .1, and .03 of 1.93 with the law's caution.
func TestWhitenedLeavesNoiseAlone(t *testing.T) {
	m := modelstest.Compile(t, "whiten.yaml", strings.NewReplacer("FORMULA", "y ~ x + z", "FAMILY", "normal").Replace(whitenColumns))
	stretch := func(noise float64) float64 {
		l := whitenLaw(m)
		k := len(l.Columns)
		l.CorrelationSD = make([]float64, k*k)
		l.CorrelationSD[1], l.CorrelationSD[k] = noise, noise
		c := Coordinates(m, l, 0.002, math.Inf(1), testRand{rand.New(rand.NewPCG(1, 1))})
		a := c.Predictors[0].Matrix
		return (a[0] - a[1]) / c.Unit[0] // of (x − z)/√2, whose variance is 0.1
	}
	for _, noise := range []float64{0, 0.12, 0.5} {
		variance := 0.1
		if noise > 0 {
			variance = 2 * 0.03 / 1.93
		}
		want := 1 / math.Sqrt(variance+0.002+0.5*math.Sqrt2*noise)
		if got := stretch(noise); math.Abs(got/want-1) > 0.1 {
			t.Errorf("noise %v: stretched by %v, want %v", noise, got, want)
		}
	}
}

// The direction of a rare reference level is stretched as that of another rare level is:
// noise of the law, in units of each column's variance, does not hide it.
func TestWhitenedRareReference(t *testing.T) {
	const columns = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100000}
  columns:
    band: {type: category, levels: [a, b, c, d], reference: REFERENCE}
    y: {type: binary}
model: {formula: y ~ 1 + band, family: bernoulli}
`
	// variance is that of the whitened column that is longest along the records of level a.
	variance := func(reference string) float64 {
		m := modelstest.Compile(t, "bands.yaml", strings.Replace(columns, "REFERENCE", reference, 1))
		l := m.DeclaredLaw()
		l.Columns[0].Shares = []float64{0.004, 0.196, 0.3, 0.5}
		l.Correlation, l.CorrelationSD = []float64{1, 0, 0, 1}, []float64{0, 0.05, 0.05, 0}
		rng := testRand{rand.New(rand.NewPCG(3, 3))}
		c := Coordinates(m, l, 0.002, math.Inf(1), rng)
		r := c.Predictors[0]
		rows := drawRows(m, l, rng)
		designs, _, _ := designs(m, m.LinearPredictors(), rows)
		k, unit := len(r.Center), c.Unit[0]
		rare, n := make([]float64, k), 0.0
		for i := 0; i < lawRecords; i++ {
			x := designs[0][i*k : (i+1)*k]
			is := reference == "a" && slices.Max(x) == 0 || reference != "a" && x[0] == 1
			if !is {
				continue
			}
			n++
			for j := range k {
				for e := range k {
					rare[j] += r.Matrix[e*k+j] / unit * (x[e] - r.Center[e])
				}
			}
		}
		square := 0.0
		for _, x := range rare {
			square += x / n * x / n
		}
		return square * n / lawRecords
	}
	asReference, other := variance("a"), variance("d")
	// without the noise both are 1 - 0.004; chance of 40 records moves both alike
	if math.Abs(asReference/other-1) > 0.1 || other < 0.8 {
		t.Errorf("records of a rare level have variance %.2f as reference, %.2f as another level", asReference, other)
	}
}

// A column of standard deviation .02 where 1 is declared is stretched to nearly 1 among few
// columns, and not among a hundred.
func TestWhitenedManyColumns(t *testing.T) {
	deviation := func(columns int) float64 {
		var text, formula strings.Builder
		for i := range columns {
			fmt.Fprintf(&text, "    x%d: {type: real, lower: -9, upper: 9, scale: {center: 0, by: 1}}\n", i)
			fmt.Fprintf(&formula, " + x%d", i)
		}
		m := modelstest.Compile(t, "many.yaml", `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100000}
  columns:
`+text.String()+`    y: {type: binary}
model: {formula: y ~ 1`+formula.String()+`, family: bernoulli}
`)
		l := m.DeclaredLaw()
		l.Columns[0].Edges, l.Columns[0].Shares = []float64{-0.0346, 0.0346}, []float64{1} // sd .02
		c := Coordinates(m, l, 0, math.Inf(1), testRand{rand.New(rand.NewPCG(1, 1))})
		return 0.02 * c.Predictors[0].Matrix[0] / c.Unit[0]
	}
	// the prior's variance is 1, or that of the default: .2 and more of it hide .0004
	if few, many := deviation(3), deviation(100); few < 0.7 || many > 0.1 {
		t.Errorf("a standard deviation of .02 becomes %.2f among 3 columns, %.2f among 100", few, many)
	}
}
