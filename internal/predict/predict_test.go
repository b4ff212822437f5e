package predict

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/spec"
)

// source is a seeded dist.Rand.
type source struct{ *rand.Rand }

func (s source) Normal() float64  { return s.NormFloat64() }
func (s source) Uniform() float64 { return s.Float64() }

func compile(t *testing.T, columns, model string) *models.Model {
	t.Helper()
	s, errs := spec.Parse("m.yaml", []byte(`d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    x: {type: real, lower: -9, upper: 9, scale: {center: 0, by: 1}, source: expert}
`+columns+"model:\n"+model), nil)
	if err := errs.Err(); err != nil {
		t.Fatal(err)
	}
	m, err := models.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// listed are the draws in theta, shape (S, P).
func listed(theta []float64, p int) Posterior {
	return Posterior{S: len(theta) / p, Prob: 0.9, Draw: func(dst []float64, s int) { copy(dst, theta[s*p:(s+1)*p]) }}
}

// predictAll returns the first prediction of each row.
func predictAll(t *testing.T, m *models.Model, theta []float64, rows Rows) []Summary {
	t.Helper()
	var all []Summary
	rng := source{rand.New(rand.NewPCG(3, 4))}
	err := Predict(m, listed(theta, m.P), rows, rng, func(i int, p *Prediction) error {
		if i != len(all) {
			t.Fatalf("row %d after %d rows", i, len(all))
		}
		if p.OK != rows.Valid[i] {
			t.Errorf("row %d: OK is %v", i, p.OK)
		}
		all = append(all, p.Targets[0])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// New rows need no column for whether their time is censored.
func TestCensoringIsNotNeeded(t *testing.T) {
	m := compile(t, "    days: {type: integer, lower: 1, upper: 900}\n    died: {type: binary}\n", "  formula: surv(days, died) ~ 1 + x\n  family: exponential\n")
	e := EncodingOf(m)
	if len(e.Fields) != 1 || e.Fields[0].Column != "x" {
		t.Errorf("fields %+v, want x alone", e.Fields)
	}
	at := e.Fields[0].Out[0]
	rows := Rows{Data: make([]float64, e.K), N: 1, Stride: e.K, Valid: []bool{true}}
	rows.Data[at] = 2
	got := predictAll(t, m, []float64{0.5, 0.25}, rows)[0] // the mean is by·exp(Intercept + b x)
	_, by := m.Spec.Data.Column("days").Scale()
	if want := by * math.E; math.Abs(got.Mean-want) > 1e-9*want {
		t.Errorf("mean %g days, want %g", got.Mean, want)
	}
}

// With two draws the posterior of the mean is known by hand.
func TestLogisticMeanOverDraws(t *testing.T) {
	m := compile(t, "    y: {type: binary, levels: [\"0\", \"1\"]}\n", "  formula: y ~ 1 + x\n  family: bernoulli\n  link: logit\n")
	theta := []float64{0, 1, 1, -2} // (Intercept, b[x]) of two draws
	const n = 600                   // more than two blocks
	rows := Rows{N: n, Stride: 1, Valid: make([]bool, n)}
	for i := range n {
		rows.Data = append(rows.Data, float64(i)/100-3)
		rows.Valid[i] = i != 7
	}
	for i, got := range predictAll(t, m, theta, rows) {
		x := rows.Data[i]
		a, b := 1/(1+math.Exp(-x)), 1/(1+math.Exp(2*x-1))
		low, high := math.Min(a, b), math.Max(a, b)
		if !got.HasMean {
			t.Fatalf("row %d: %+v", i, got)
		}
		for _, pair := range [][2]float64{
			{got.Mean, (a + b) / 2}, {got.SD, (high - low) / 2},
			{got.Lower, low + 0.05*(high-low)}, {got.Upper, low + 0.95*(high-low)},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-12 {
				t.Fatalf("row %d: %+v, want mean of %g and %g", i, got, a, b)
			}
		}
	}
}

// A response on a scale comes back in the unit of the file, and its interval
// holds the noise of an observation: 5 % and 95 % of N(10 + 4·0.5, (4·0.3)²).
func TestNormalResponseInterval(t *testing.T) {
	m := compile(t, "    y: {type: real, lower: -90, upper: 110, scale: {center: 10, by: 4}, source: expert}\n", "  formula: y ~ 1 + x\n  family: gaussian\n")
	const draws = 20000
	var theta []float64
	for range draws {
		theta = append(theta, 0.2, 0.3, math.Log(0.3)) // Intercept, b[x], log sigma
	}
	got := predictAll(t, m, theta, Rows{Data: []float64{1}, N: 1, Stride: 1, Valid: []bool{true}})[0]
	mean, sd := 10+4*0.5, 4*0.3
	if math.Abs(got.Mean-mean) > 1e-9 || got.SD > 1e-9 {
		t.Errorf("mean %g ± %g, want %g ± 0", got.Mean, got.SD, mean)
	}
	// The standard error of a 5 % quantile is sqrt(p(1-p)/n)/density = 2.11 sd/sqrt(n):
	// P(beyond 6.5 of them) < 1e-10.
	tolerance := 6.5 * 2.11 * sd / math.Sqrt(draws)
	const z95 = 1.6448536269514722
	if math.Abs(got.YLower-(mean-z95*sd)) > tolerance || math.Abs(got.YUpper-(mean+z95*sd)) > tolerance {
		t.Errorf("response from %g to %g, want %g to %g (±%g)", got.YLower, got.YUpper, mean-z95*sd, mean+z95*sd, tolerance)
	}
}

// Predict gives the quantiles of Draws, one per draw of the parameters; a row that lacks
// a value has no draws.
func TestDrawsAreThoseOfPredict(t *testing.T) {
	m := compile(t, "    y: {type: real, lower: -90, upper: 110, scale: {center: 10, by: 4}, source: expert}\n", "  formula: y ~ 1 + x\n  family: gaussian\n")
	var theta []float64
	for s := range 40 {
		theta = append(theta, float64(s), 0.3, math.Log(0.01))
	}
	rows := Rows{Data: make([]float64, 300), N: 300, Stride: 1, Valid: make([]bool, 300)}
	for i := range rows.Valid {
		rows.Valid[i] = i != 270
	}
	summaries := predictAll(t, m, theta, rows)
	seen := 0
	err := Draws(m, listed(theta, m.P), rows, source{rand.New(rand.NewPCG(1, 2))}, func(row int, responses [][]float64) error {
		seen++
		y := slices.Clone(responses[0])
		if row == 270 {
			if !math.IsNaN(y[0]) {
				t.Errorf("row %d lacks a value and has response %g", row, y[0])
			}
			return nil
		}
		for s := range y { // the intercept rises by 4 with each draw
			if math.Abs(y[s]-(10+4*float64(s))) > 4*0.01*7 {
				t.Errorf("row %d, draw %d: %g, want %d ± 0.04", row, s, y[s], 10+4*s)
			}
		}
		if q := intervalOf(y, 0.9); math.Abs(q.Lower-summaries[row].YLower) > 1 || math.Abs(q.Upper-summaries[row].YUpper) > 1 {
			t.Errorf("row %d: %g to %g, Predict says %g to %g", row, q.Lower, q.Upper, summaries[row].YLower, summaries[row].YUpper)
		}
		return nil
	})
	if err != nil || seen != 300 {
		t.Errorf("%d rows, %v", seen, err)
	}
}
