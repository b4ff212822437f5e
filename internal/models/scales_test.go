package models_test

import (
	"math"
	"testing"

	"d3p/internal/models/predictive"
)

// TestRawCoefficients checks that the coefficients reported in the units of the
// file predict, from the columns as they stand in the file, what the model
// predicts from scaled columns.
func TestRawCoefficients(t *testing.T) {
	m := compile(t, dataBlock(0,
		"age: {type: real, lower: 18, upper: 100, scale: {center: 60, by: 20}}",
		"bmi: {type: real, lower: 10, upper: 70}",
		"sex: {type: category, levels: [female, male]}",
		"y: {type: real, lower: 60, upper: 260, scale: {center: 130, by: 25}}")+
		"model:\n  formula: y ~ 1 + age + bmi + sex\n  family: normal\n")
	theta := []float64{0.3, -0.7, 0.4, 1.1, math.Log(0.5)}
	raw := make(map[string]float64)
	values := make([]float64, m.Quantity)
	m.Quantities(values, theta)
	for _, d := range m.Derived {
		for i, name := range d.Elements() {
			raw[name] = values[d.At+i]
		}
	}
	p := predictive.New(m, 1)
	p.Set(theta)
	for _, c := range []struct{ age, bmi, male float64 }{{20, 31, 0}, {85, 18, 1}} {
		row := encodeOne(m, map[string]float64{"age": c.age, "bmi": c.bmi, "sex": c.male})
		p.Records(row, m.Encoding.K, 1)
		mean := make([]float64, 1)
		if !p.Mean(mean, 0) {
			t.Fatal("no mean")
		}
		got := raw["Intercept_raw"] + raw["b_raw[age]"]*c.age + raw["b_raw[bmi]"]*c.bmi + raw["b_raw[sex=male]"]*c.male
		compare(t, "prediction", []float64{got}, mean)
	}
	compare(t, "sigma", []float64{raw["sigma_raw"]}, []float64{0.5 * 25})
}

// TestNoRawCoefficients checks that quantities in the units of the file are left
// out where they would repeat the parameters, or mean nothing one by one.
func TestNoRawCoefficients(t *testing.T) {
	for _, c := range []struct{ columns, model string }{
		{"y: {type: binary}", "formula: y ~ 1 + x1\n  family: bernoulli"},
		{"z: {type: real, lower: 0, upper: 9}\n    y: {type: binary}", "formula: y ~ 1 + x1 * z\n  family: bernoulli"},
	} {
		if m := compile(t, dataBlock(1, c.columns)+"model:\n  "+c.model+"\n"); len(m.Derived) > 0 {
			t.Errorf("%s has quantities %v", c.model, m.Derived)
		}
	}
}
