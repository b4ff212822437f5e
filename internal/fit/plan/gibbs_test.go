package plan_test

import (
	"math"
	"testing"

	"d3p/internal/fit/fittest"
	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/settings"
)

// The weight of a Gibbs posterior is at least that of Minami et al. 2016 for the same price: one
// record for another, a loss with slopes of at most L in units of the prior, β = ε/(2L)·√(1/(1 +
// 2 log 1/δ)). Their β costs no more than they state.
func TestGibbsPosteriorHasTheWeightOfItsPaper(t *testing.T) {
	m := modelstest.Compile(t, "gibbs.yaml", `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 500}
  columns:
    x: {type: real, lower: -3, upper: 2, scale: {center: 0, by: 1}}
    g: {type: category, levels: [a, b, c]}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1 + x + g
  family: bernoulli
  priors:
    Intercept: normal(0, 2)
    b: normal(1, 0.5)
`)
	longest := math.Sqrt(2*2 + 0.5*0.5*(3*3+1)) // the intercept, x = -3, and one level
	for _, epsilon := range []float64{0.1, 0.5, 1} {
		for _, delta := range []float64{1e-3, 1e-5, 1e-8} {
			p := fittest.Plan(t, m, plan.Config{Method: settings.MethodGibbs, Epsilon: epsilon, Delta: delta, Neighbours: "substitute"})
			draw, _, err := p.LogisticDraw()
			if err != nil {
				t.Fatal(err)
			}
			paper := epsilon / (2 * longest) / math.Sqrt(1+2*math.Log(1/delta))
			if draw.Most < paper || draw.Most > 2.5*paper {
				t.Errorf("(%g, %g): the weight is %.4g, the paper's %.4g", epsilon, delta, draw.Most, paper)
			}
			answer, err := accountant.Epsilon(event.Gaussian{NoiseMultiplier: 1 / (paper * longest)}, event.Substitute, delta)
			if err != nil || answer.Upper > epsilon {
				t.Errorf("(%g, %g): the paper's weight costs %.4g, %v", epsilon, delta, answer.Upper, err)
			}
			if most := draw.Most * longest * p.NoiseMultiplier; most > 1 || most < 1-1e-5 {
				t.Errorf("(%g, %g): the slope of a record is %.8g of the price", epsilon, delta, most)
			}
		}
	}
}

// A weight of the model file that leaves less slope than the budget costs what it is worth: a
// Gaussian whose noise multiplier is 1 over the slope of the longest record.
func TestExactDrawCostsItsWeight(t *testing.T) {
	const file = `d3p: 1
data:
  unit: {entity: person, id: who, rows_per_unit: 2}
  rows: {public: 500}
  columns:
    x: {type: real, lower: -3, upper: 2, scale: {center: 0, by: 1}}
    y: {type: binary, levels: ["0", "1"]}
likelihood: {gibbs: {weight: 0.02}}
model:
  formula: y ~ 1 + x
  family: bernoulli
  priors:
    Intercept: normal(0, 2)
    b: normal(1, 0.5)
`
	m := modelstest.Compile(t, "weighted.yaml", file)
	slope := 0.02 * 2 * math.Sqrt(2*2+0.5*0.5*3*3)
	for _, method := range []string{settings.MethodGibbs, settings.MethodOneSample} {
		p := fittest.Plan(t, m, plan.Config{Method: method, Epsilon: 1, Delta: 1e-5, Neighbours: "add_remove"})
		draw, _, err := p.LogisticDraw()
		if err != nil {
			t.Fatal(err)
		}
		answer, err := accountant.Epsilon(event.Gaussian{NoiseMultiplier: 1 / slope}, event.AddRemove, 1e-5)
		if err != nil || answer.Upper > 0.5 {
			t.Fatal(answer, err)
		}
		if spent := p.Certified.Upper; draw.Most != 0.02 || spent < answer.Lower || spent > answer.Upper*1.001 || p.Epsilon < spent || p.Epsilon > spent*1.001 {
			t.Errorf("%s: a weight of %g costs %.6g of a budget of %.6g, want a price of %.6g", method, draw.Most, spent, p.Epsilon, answer.Upper)
		}
		if left, err := draw.Slope(2); err != nil || left < slope {
			t.Errorf("%s: the noise leaves a slope of %.8g, want %.8g, %v", method, left, slope, err)
		}
	}
}
