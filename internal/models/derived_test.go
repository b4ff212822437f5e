package models_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/models/simulate"
	"d3p/internal/models/spec"
)

// derivedRecords are encoded records of configs/derived.yaml, and what its derived
// columns are by hand, on their scales.
func derivedRecords(m *models.Model, n int, rng *rand.Rand) (records []float64, want [][4]float64) {
	for range n {
		weight, height, age, male := 30+170*rng.Float64(), 120+100*rng.Float64(), float64(18+rng.IntN(83)), float64(rng.IntN(2))
		row := make([]float64, m.Encoding.K)
		m.Encoding.Encode(row, func(header string) float64 {
			return map[string]float64{"weight": weight, "height": height, "age": age, "sex": male, "ill": 1}[header]
		})
		records = append(records, row...)
		old := 0.0
		if age > 65 {
			old = male
		}
		bmi := min(max(weight/(height/100)/(height/100), 10), 60)
		want = append(want, [4]float64{(bmi - 25) / 4, (age - 60) / 20, math.Pow(age/20-3, 2) - 1, old})
	}
	return records, want
}

// The likelihood of derived columns is that of the numbers by hand: log p(1) of a
// logistic regression on them.
func TestDerivedColumns(t *testing.T) {
	m, err := models.Compile(parseFile(t, "../../configs/derived.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const n = 200
	rng := rand.New(rand.NewPCG(7, 1))
	records, want := derivedRecords(m, n, rng)
	theta := normals(m.P, 0.7, rng)
	machine := graph.NewMachine(m.Likelihood, n)
	machine.Globals(theta, nil)
	machine.Records(records, m.Encoding.K, n, nil)
	clamped := 0
	for i, x := range want {
		eta := theta[0]
		for j := range x {
			eta += theta[1+j] * x[j]
		}
		if x[0] == (60-25)/4. {
			clamped++
		}
		if log := -math.Log1p(math.Exp(-eta)); math.Abs(machine.Loss()[i]-log) > 1e-12*(1+math.Abs(log)) {
			t.Errorf("record %d: log density %v, want %v", i, machine.Loss()[i], log)
		}
	}
	if clamped == 0 || clamped == n {
		t.Errorf("%d of %d records have a clamped bmi: the test needs both kinds", clamped, n)
	}
}

// A record's derived columns depend on it alone: among other records, its log density
// and gradient have the same bits.
func TestDerivedColumnsDependOnTheirRecord(t *testing.T) {
	m, err := models.Compile(parseFile(t, "../../configs/derived.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const n = 20
	rng := rand.New(rand.NewPCG(8, 1))
	records, _ := derivedRecords(m, n, rng)
	others, _ := derivedRecords(m, n, rng)
	k, theta := m.Encoding.K, normals(m.P, 0.7, rng)
	at := func(rows []float64, i int) (float64, []float64) {
		machine := graph.NewMachine(m.Likelihood, n)
		machine.Globals(theta, nil)
		machine.Records(rows, k, len(rows)/k, nil)
		gradient := make([]float64, m.P)
		machine.Gradient(i, gradient)
		return machine.Loss()[i], gradient
	}
	for i := range n {
		alone, own := at(records[i*k:(i+1)*k], 0)
		copy(others[i*k:(i+1)*k], records[i*k:(i+1)*k])
		among, gradient := at(others, i)
		if alone != among {
			t.Errorf("record %d: log density %v alone, %v among others", i, alone, among)
		}
		for p := range own {
			if own[p] != gradient[p] {
				t.Errorf("record %d: gradient %v alone, %v among others", i, own[p], gradient[p])
			}
		}
	}
}

// The bounds that follow from those of the columns hold at random points of the box,
// and expressions near them are reached within it.
func TestDerivedBounds(t *testing.T) {
	const declaration = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    x: {type: real, lower: -2, upper: 3, scale: {center: 0, by: 1}}
    z: {type: real, lower: 0.5, upper: 4, scale: {center: 0, by: 1}}
    y: {type: binary}
  derive: {d: "EXPRESSION"}
model: {formula: y ~ d, family: bernoulli}
`
	for text, f := range map[string]func(x, z float64) float64{
		"x^2":             func(x, z float64) float64 { return x * x },
		"x^3 - z":         func(x, z float64) float64 { return x*x*x - z },
		"-x * z":          func(x, z float64) float64 { return -x * z },
		"x / z":           func(x, z float64) float64 { return x / z },
		"z^-2":            func(x, z float64) float64 { return 1 / (z * z) },
		"z^x":             func(x, z float64) float64 { return math.Pow(z, x) },
		"log(z) + exp(x)": func(x, z float64) float64 { return math.Log(z) + math.Exp(x) },
		"abs(x) * 2":      func(x, z float64) float64 { return math.Abs(x) * 2 },
		"square(x - 1)":   func(x, z float64) float64 { return (x - 1) * (x - 1) },
		"max(x, z)":       func(x, z float64) float64 { return math.Max(x, z) },
		"min(x, z) + 1":   func(x, z float64) float64 { return math.Min(x, z) + 1 },
	} {
		s, errs := spec.Parse("derive.yaml", []byte(strings.Replace(declaration, "EXPRESSION", text, 1)), nil)
		if len(errs) > 0 {
			t.Errorf("%s: %v", text, errs)
			continue
		}
		c := s.Data.Derived[0]
		least, most := math.Inf(1), math.Inf(-1)
		for i := range 101 {
			for j := range 101 {
				v := f(-2+5*float64(i)/100, 0.5+3.5*float64(j)/100)
				least, most = min(least, v), max(most, v)
			}
		}
		slack := 0.01 * (most - least)
		if least < c.Lower.V-1e-12 || most > c.Upper.V+1e-12 || c.Lower.V < least-slack || c.Upper.V > most+slack {
			t.Errorf("%s: bounds %g to %g, values %g to %g", text, c.Lower.V, c.Upper.V, least, most)
		}
	}
}

// A function of columns in a formula is a derived column: the likelihood is the same.
func TestFunctionsInFormulas(t *testing.T) {
	const declaration = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    x: {type: real, lower: 1, upper: 9, scale: {center: 3, by: 2}}
    g: {type: category, levels: [a, b, c]}
    y: {type: binary}
DERIVE
model: {formula: "FORMULA", family: bernoulli}
`
	read := func(derive, formula string) *models.Model {
		t.Helper()
		m, err := models.Read("m.yaml", []byte(strings.NewReplacer("DERIVE", derive, "FORMULA", formula).Replace(declaration)), nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a := read("", "y ~ x + log(x):g + I(x^2 / 3) + I(g == 'b' or x > 4)")
	b := read("  derive: {l: log(x), s: x^2 / 3, i: g == 'b' or x > 4}", "y ~ x + l:g + s + i")
	const n = 50
	rng := rand.New(rand.NewPCG(9, 1))
	theta := normals(a.P, 1, rng)
	var losses [2][]float64
	for k, m := range []*models.Model{a, b} {
		var rows []float64
		draw := rand.New(rand.NewPCG(9, 2))
		for range n {
			cells := map[string]float64{"x": 1 + 8*draw.Float64(), "g": float64(draw.IntN(3)), "y": float64(draw.IntN(2))}
			row := make([]float64, m.Encoding.K)
			m.Encoding.Encode(row, func(header string) float64 { return cells[header] })
			rows = append(rows, row...)
		}
		machine := graph.NewMachine(m.Likelihood, n)
		machine.Globals(theta, nil)
		machine.Records(rows, m.Encoding.K, n, nil)
		losses[k] = machine.Loss()
	}
	for i := range n {
		if losses[0][i] != losses[1][i] {
			t.Errorf("record %d: %v in the formula, %v derived", i, losses[0][i], losses[1][i])
		}
	}
	if a.P != 7 || b.P != a.P { // log(x):g has all three levels, because log(x) is no term
		t.Errorf("%d and %d parameters, want 7", a.P, b.P)
	}
}

// A response may be a comparison: the likelihood is that of its 0 or 1, predictions do
// without its column, and simulated records meet it as often as the model says.
func TestComparedResponses(t *testing.T) {
	const declaration = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    x: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    n: {type: integer, lower: 0, upper: 20}
    g: {type: category, levels: [a, b, c]}
  derive: {many: n >= 5}
model: {formula: "FORMULA", family: bernoulli}
`
	read := func(formula string) (*models.Model, error) {
		return models.Read("m.yaml", []byte(strings.Replace(declaration, "FORMULA", formula, 1)), nil)
	}
	for formula, holds := range map[string]func(n, g float64) bool{
		"g == 'b' ~ x": func(_, g float64) bool { return g == 1 },
		"g != 'a' ~ x": func(_, g float64) bool { return g != 0 },
		"n > 0 ~ x":    func(n, _ float64) bool { return n > 0 },
		"n <= 3 ~ x":   func(n, _ float64) bool { return n <= 3 },
		"n == 7 ~ x":   func(n, _ float64) bool { return n == 7 },
		"many ~ x":     func(n, _ float64) bool { return n >= 5 },
	} {
		m, err := read(formula)
		if err != nil {
			t.Errorf("%s: %v", formula, err)
			continue
		}
		for _, f := range m.Encoding.Predictors().Fields {
			if f.Column != "x" {
				t.Errorf("%s: a prediction needs column %s", formula, f.Column)
			}
		}
		const n = 2000
		rng := rand.New(rand.NewPCG(10, 1))
		theta := []float64{-0.3, 0.8}
		table := simulate.At(m, theta, n, m.DeclaredLaw(), testRand{rng})
		rows := simulate.Encode(m, table, n)
		machine := graph.NewMachine(m.Likelihood, n)
		machine.Globals(theta, nil)
		machine.Records(rows, m.Encoding.K, n, nil)
		excess, variance := 0.0, 0.0
		for i := range n {
			eta := theta[0] + theta[1]*table.Values[0][i]
			p, log := 1/(1+math.Exp(-eta)), -math.Log1p(math.Exp(eta))
			if holds(table.Values[1][i], table.Values[2][i]) {
				log = -math.Log1p(math.Exp(-eta))
				excess++
			}
			excess -= p
			variance += p * (1 - p)
			if math.Abs(machine.Loss()[i]-log) > 1e-12 {
				t.Fatalf("%s: log density %v, want %v", formula, machine.Loss()[i], log)
			}
		}
		// P(|N(0, 1)| > 6.5) < 1e-10
		if math.Abs(excess) > 6.5*math.Sqrt(variance) {
			t.Errorf("%s holds in %g records more than expected, standard error %g", formula, excess, math.Sqrt(variance))
		}
	}
	for formula, want := range map[string]string{
		"n > 20 ~ x":             "is the same for every declared value of n",
		"g == 'z' ~ x":           "'z' is no level of g",
		"n > x ~ x":              "depends on",
		"n > 0 and g == 'a' ~ 1": "it must compare a column of the file with a constant",
		"n > 0 ~ x + n":          "cannot predict itself",
		"n > 0 ~ I(n^2)":         "depends on n",
	} {
		if _, err := read(formula); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", formula, err, want)
		}
	}
}
