package plan_test

import (
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/law"
	"d3p/internal/models/modelstest"
)

// A number of units that is bought beside a bound is a part of the price, but changes no
// rate, no steps and no batch; what follows the steps uses it.
func TestBoughtUnits(t *testing.T) {
	read := func(rows string) *models.Model {
		return modelstest.Compile(t, "m.yaml", `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: `+rows+`
  columns:
    x: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}}
    y: {type: binary}
model: {formula: y ~ 1 + x, family: bernoulli}
`)
	}
	decide := func(rows string) *plan.Plan {
		p, err := plan.New(read(rows), plan.Config{Epsilon: 1, Table1: "none"})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	bound, p := decide("{upper_bound: 10000}"), decide("{upper_bound: 10000, dp: 0.1}")
	if len(p.Before()) != 1 || !p.ToCount() || p.SamplingRate != bound.SamplingRate || p.Steps != bound.Steps || !(p.NoiseMultiplier > bound.NoiseMultiplier) {
		t.Errorf("%+v\nbound alone %+v", p, bound)
	}
	if p.Units() != 10000 || bound.Units() != 10000 {
		t.Errorf("%d, %d units before the purchase", p.Units(), bound.Units())
	}
	buy := func(p *plan.Plan, number float64) {
		bought := *p.Counted
		bought.Number = &number
		p.Counted = &bought
	}
	for number, want := range map[float64]int{3000: 3000, 12000: 10000, -50: 1} {
		if buy(p, number); p.Units() != want || p.ToCount() {
			t.Errorf("%d units of %g that were bought", p.Units(), number)
		}
	}
	// Table 1 has the number, too, here with a third of the noise: weights 1 and 9.
	if buy(p, 3000); p.Counted.Noise <= 0 {
		t.Fatal(p.Counted.Noise)
	}
	p.Bought = &law.Law{Records: 3100, RecordsSD: p.Counted.Noise / 3}
	if p.Units() != 3090 {
		t.Errorf("%d units by both", p.Units())
	}
	public := decide("{public: 10000}")
	for records, want := range map[float64]int{9850: 10000, 10200: 10000, 9000: 9000} {
		if public.Bought = (&law.Law{Records: records, RecordsSD: 100}); public.Units() != want {
			t.Errorf("%d units where Table 1 counts %g of a public 10000", public.Units(), records)
		}
	}
	if _, err := plan.New(read("{upper_bound: 10000, dp: 1}"), plan.Config{Epsilon: 1}); err == nil || !strings.Contains(err.Error(), "take 100 % of mu squared") {
		t.Error(err)
	}
}
