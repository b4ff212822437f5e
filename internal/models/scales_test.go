package models_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"d3p/internal/models"
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
		{"z: {type: real, lower: 0, upper: 9}\n    y: {type: binary}", "formula: y ~ 1 + x1:z\n  family: bernoulli"},
	} {
		if m := compile(t, dataBlock(1, c.columns)+"model:\n  "+c.model+"\n"); len(m.Derived) > 0 {
			t.Errorf("%s has quantities %v", c.model, m.Derived)
		}
	}
}

// TestRawThresholds checks that the thresholds of an ordinal response and the log hazards
// of intervals, in the units of the file, predict what the model does.
func TestRawThresholds(t *testing.T) {
	columns := dataBlock(0,
		"age: {type: real, lower: 18, upper: 100, scale: {center: 60, by: 20}}",
		"o: {type: ordinal, levels: [I, II, III]}",
		"t: {type: real, lower: 0.5, upper: 30, scale: {center: 0, by: 10}}")
	const age, b = 75.0, 0.8
	for _, c := range []struct {
		model string
		theta []float64
		level string
		want  float64 // its value
	}{
		{"formula: o ~ age\n  family: cumulative", []float64{b, -1, math.Log(1.5)}, "thresholds_raw[2]", 0.5 + b*60/20},
		{"formula: o ~ age\n  family: acat", []float64{b, -1, 0.25}, "thresholds_raw[2]", 0.25 + b*60/20},
		{"formula: t ~ age\n  family: piecewise_exponential\n  cuts: [5]", []float64{b, -1, 0.25}, "baseline_raw[5+]", 0.25 - b*60/20 - math.Log(10)},
	} {
		m := compile(t, columns+"model:\n  "+c.model+"\n")
		values := make([]float64, m.Quantity)
		m.Quantities(values, c.theta)
		raw := make(map[string]float64)
		for _, d := range m.Derived {
			for i, name := range d.Elements() {
				raw[name] = values[d.At+i]
			}
		}
		compare(t, c.model, []float64{raw[c.level], raw["b_raw[age]"]}, []float64{c.want, b / 20})
	}
}

// TestCorrelationsOfGroups checks that the correlations of a group's effects are those of
// the covariance factor by which the effects are drawn.
func TestCorrelationsOfGroups(t *testing.T) {
	m := compile(t, dataBlock(2, "g: {type: category, levels: [a, b]}", "y: {type: binary}")+
		"model:\n  formula: y ~ 1 + (1 + x1 + x2 | g)\n  family: bernoulli\n")
	theta := make([]float64, m.P)
	for i := range theta {
		theta[i] = math.Sin(float64(i + 1))
	}
	at := atTheta(m, theta)
	want := at["L_g[x2,Intercept]"]*at["L_g[x1,Intercept]"] + at["L_g[x2,x1]"]*at["L_g[x1,x1]"]
	compare(t, "correlation", []float64{at["cor_g[x2,x1]"], at["cor_g[x1,x1]"]}, []float64{want, 1})
}

// atTheta holds every parameter and quantity by name.
func atTheta(m *models.Model, theta []float64) map[string]float64 {
	constrained, values := make([]float64, m.Constrained), make([]float64, m.Quantity)
	m.Constrain(constrained, theta)
	m.Quantities(values, theta)
	at := make(map[string]float64)
	for i, name := range m.Names() {
		at[name] = constrained[i]
	}
	for _, d := range m.Derived {
		for i, name := range d.Elements() {
			at[name] = values[d.At+i]
		}
	}
	return at
}

// TestRawProducts checks that coefficients in the unit of the file predict what the model
// does when scaled columns are multiplied with each other and with levels, and when their
// slopes differ between groups.
func TestRawProducts(t *testing.T) {
	columns := dataBlock(0,
		"age: {type: real, lower: 18, upper: 100, scale: {center: 60, by: 20}}",
		"bmi: {type: real, lower: 10, upper: 70, scale: {center: 27, by: 5}}",
		"sex: {type: category, levels: [f, m, x]}",
		"g: {type: category, levels: [k, l]}",
		"y: {type: real, lower: 60, upper: 260, scale: {center: 130, by: 25}}")
	for _, formula := range []string{
		"age * bmi", "bmi:age + bmi + age", "age * bmi * sex", "sex + sex:age", "age * sex", "poly(bmi, 2) * age",
		"age + poly(bmi, 3)", "sex * age + (1 + age | g)", "age + (1 + age * bmi || g)", "age + (1 | g)",
	} {
		m := compile(t, columns+"model:\n  formula: y ~ "+formula+"\n  family: normal\n")
		theta := make([]float64, m.P)
		for i := range theta {
			theta[i] = math.Sin(float64(2*i + 1))
		}
		at := atTheta(m, theta)
		p := predictive.New(m, 1)
		p.Set(theta)
		for _, c := range []struct {
			age, bmi float64
			sex, g   string
		}{{20, 31, "f", "k"}, {85, 18, "m", "l"}, {47, 44, "x", "k"}} {
			value := func(label string) float64 {
				product := 1.0
				for factor := range strings.SplitSeq(label, ":") {
					switch name, level, isLevel := strings.Cut(factor, "="); {
					case isLevel && level != c.sex:
						product = 0
					case name == "age":
						product *= c.age
					case name == "bmi":
						product *= c.bmi
					case strings.HasPrefix(name, "I("):
						product *= c.bmi * c.bmi
					}
				}
				return product
			}
			want := at["Intercept_raw"]
			for name, v := range at {
				label, ok := strings.CutPrefix(name, "b_raw[")
				if effect, of := strings.CutPrefix(name, "r_g_raw["+c.g+","); of {
					label, ok = effect, true
				}
				if ok {
					want += v * value(strings.TrimSuffix(label, "]"))
				}
			}
			// a curve stays on the declared scale, but for the response
			for power := range 3 {
				want += 25 * at[fmt.Sprintf("s_bmi[%d]", power+1)] * math.Pow((c.bmi-27)/5, float64(power+1))
			}
			levels := map[string]float64{"f": 0, "m": 1, "x": 2, "k": 0, "l": 1}
			row := encodeOne(m, map[string]float64{"age": c.age, "bmi": c.bmi, "sex": levels[c.sex], "g": levels[c.g]})
			p.Records(row, m.Encoding.K, 1)
			mean := make([]float64, 1)
			if !p.Mean(mean, 0) {
				t.Fatal("no mean")
			}
			compare(t, formula, []float64{want}, mean)
		}
	}
}

// TestRawGroups checks the standard deviations of effects in the unit of the file by the
// effects of levels that are a factor of the effects' correlations, by column.
func TestRawGroups(t *testing.T) {
	columns := dataBlock(0,
		"age: {type: real, lower: 18, upper: 100, scale: {center: 60, by: 20}}",
		"g: {type: category, levels: [k, l]}",
		"y: {type: real, lower: 60, upper: 260, scale: {center: 130, by: 25}}")
	for _, terms := range []string{"(1 + age | g)", "(1 + age || g)", "(1 | g)"} {
		m := compile(t, columns+"model:\n  formula: y ~ age + "+terms+"\n  family: normal\n")
		theta := make([]float64, m.P)
		for i := range theta {
			theta[i] = math.Cos(float64(i))
		}
		factor := map[string]float64{"z_g[k,Intercept]": 1, "z_g[l,age]": 1}
		if at := atTheta(m, theta); terms == "(1 + age | g)" {
			factor["z_g[k,age]"], factor["z_g[l,age]"] = at["L_g[age,Intercept]"], at["L_g[age,age]"]
		}
		for _, p := range m.Params {
			for i, name := range p.Elements() {
				if p.Name == "z_g" {
					theta[p.Offset+i] = factor[name]
				}
			}
		}
		at := atTheta(m, theta)
		for _, effect := range []string{"Intercept", "age"} {
			sd, ok := at["sd_g_raw["+effect+"]"]
			if want := math.Hypot(at["r_g_raw[k,"+effect+"]"], at["r_g_raw[l,"+effect+"]"]); ok {
				compare(t, terms+" "+effect, []float64{sd}, []float64{want})
			} else if effect == "Intercept" || terms != "(1 | g)" {
				t.Errorf("%s has no sd_g_raw[%s]", terms, effect)
			}
		}
	}
}
