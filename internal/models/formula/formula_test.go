package formula

import (
	"maps"
	"math"
	"strings"
	"testing"

	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/naming"
	"d3p/internal/models/source"
)

// TestFormula checks what formulas stand for, by what they print as.
func TestFormula(t *testing.T) {
	table := &data.Data{}
	for _, name := range []string{"y", "a", "b", "c", "g"} {
		table.Columns = append(table.Columns, &data.Column{Name: source.Value[string]{V: name}})
	}
	for text, want := range map[string]string{
		"y ~ a":                        "y ~ 1 + a",
		"y ~ 0 + a":                    "y ~ 0 + a",
		"y ~ a - 1":                    "y ~ 0 + a",
		"y ~ -1 + a":                   "y ~ 0 + a",
		"y~a*b":                        "y ~ 1 + a + b + a:b",
		"y ~ a*b*c":                    "y ~ 1 + a + b + c + a:b + a:c + b:c + a:b:c",
		"y ~ (a | g) + b":              "y ~ 1 + b + (1 + a | g)",
		"y ~ (0 + a || g)":             "y ~ 1 + (0 + a || g)",
		"y ~ a + offset(log( b )/2)":   "y ~ 1 + a + offset(log(b) / 2)",
		"y ~ poly( a,2) + b":           "y ~ 1 + b + poly(a, 2)",
		"y ~ spline(a, -1, 0.5, 2e3)":  "y ~ 1 + spline(a, -1, 0.5, 2000)",
		"y ~ . + poly(b, 3)":           "y ~ 1 + a + c + g + poly(b, 3)",
		"y ~ .":                        "y ~ 1 + a + b + c + g",
		"y ~ c + . + (1 | g)":          "y ~ 1 + c + a + b + (1 | g)",
		"surv(y , a) ~ .":              "surv(y, a) ~ 1 + b + c + g",
		"y | trials(a) ~ 1":            "y | trials(a) ~ 1",
		"y ~ 1 + a:b + offset(c) + 0":  "y ~ 0 + a:b + offset(c)",
		"y ~ (a + b)^2":                "y ~ 1 + a + b + a:b",
		"y ~ (a + b + c)^3 - a:b:c":    "y ~ 1 + a + b + c + a:b + a:c + b:c",
		"y ~ (a + b):c":                "y ~ 1 + a:c + b:c",
		"y ~ a/b":                      "y ~ 1 + a + a:b",
		"y ~ (a + b)/c":                "y ~ 1 + a + b + a:b:c",
		"y ~ a*c + b*c":                "y ~ 1 + a + c + a:c + b + b:c",
		"y ~ a + a + b:a + a:b + b:b":  "y ~ 1 + a + b:a + b",
		"y ~ a*b - a":                  "y ~ 1 + b + a:b",
		"y == 'it is' ~ .":             "y == 'it is' ~ 1 + a + b + c + g",
		"y  > 0.5 ~ a":                 "y>0.5 ~ 1 + a",
		"y ~ log(a) * g + I(a ^ 2)":    "y ~ 1 + log(a) + g + log(a):g + I(a^2)",
		"y ~ scale(a) + (b | g)":       "y ~ 1 + a + (1 + b | g)",
		"y ~ z + poly(x,2):z":          "y ~ 1 + z + x:z + I(x^2):z",
		"y ~ poly(x, 3) * z":           "y ~ 1 + x + I(x^2) + I(x^3) + z + x:z + I(x^2):z + I(x^3):z",
		"y ~ z:poly(x, 2) + poly(x,2)": "y ~ 1 + z:x + z:I(x^2) + poly(x, 2)",
		"y | trials( 10 ) ~ a":         "y | trials(10) ~ 1 + a",
		"surv( a,y, b) ~ x":            "surv(a, y, b) ~ 1 + x",
		"y|trunc(ub=9, lb = -1.5) ~ x": "y | trunc(lb = -1.5, ub = 9) ~ 1 + x",
		"y | trunc(ub = 3) ~ x":        "y | trunc(ub = 3) ~ 1 + x",
		"y ~ (b | a : g)":              "y ~ 1 + (1 + b | a:g)",
		"y ~ (1 || a/g/c)":             "y ~ 1 + (1 || a) + (1 || a:g) + (1 || a:g:c)",
		"y ~ cut(a , 1, 2) * g":        "y ~ 1 + cut(a,1,2) + g + cut(a,1,2):g",
		"y ~ min(a, b)":                "y ~ 1 + min(a,b)",
		"y ~ I(a > 1 and b < 2)":       "y ~ 1 + I(a > 1 and b < 2)",
	} {
		p := &source.Problems{}
		f := Parse(source.Value[string]{V: text, At: expr.Position{File: "f", Line: 1, Column: 1}}, p)
		if f == nil || len(p.List) > 0 {
			t.Errorf("%s: %v", text, p.List)
			continue
		}
		f.expand(table)
		if got := f.String(); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// TestElsewhere checks that functions of other languages are refused, once and with what
// to write here.
func TestElsewhere(t *testing.T) {
	hints := map[string]string{"age/10": "write arithmetic in I(...), as I(x / 10)", "(1 | gr(g, by = a))": "write (1 | g), (1 | g:h) or (1 | g/h)"}
	for name, hint := range replacements {
		hints[name+"(a, k = 5)"] = hint
		hints[name+"(a):g"] = hint
	}
	maps.Copy(hints, map[string]string{
		"b^2": "write I(b^2)", "log(a)^3": "write I(log(a)^3)", "b:a^2": "write I(a^2)",
		"b | g": "write (1 | group) for what varies between groups, group for one coefficient each",
	})
	for text, hint := range hints {
		p := &source.Problems{}
		Parse(source.Value[string]{V: "y ~ b + " + text, At: expr.Position{File: "f", Line: 1, Column: 1}}, p)
		if len(p.List) != 1 || p.List[0].Hint != hint {
			t.Errorf("%s: %v, want the hint %q", text, p.List, hint)
		}
	}
}

// A response is a column, whatever it is called in other languages.
func TestElsewhereInResponses(t *testing.T) {
	for text, hint := range map[string]string{
		"Surv(a, b)": "write surv(time, event)", "cbind(a, b)": "write y | trials(n)", "factor(a)": "write the column alone",
		"log(a)": "write the column alone",
	} {
		p := &source.Problems{}
		Parse(source.Value[string]{V: text + " ~ b", At: expr.Position{File: "f", Line: 1, Column: 1}}, p)
		if len(p.List) != 1 || p.List[0].Hint != hint || !strings.HasPrefix(p.List[0].Message, "a response is a column") {
			t.Errorf("%s: %v, want the hint %q", text, p.List, hint)
		}
	}
}

// TestRatio checks what exp of a coefficient is called: nothing behind a link that is
// no logarithm of anything.
func TestRatio(t *testing.T) {
	for _, c := range []struct{ family, link, want string }{
		{"bernoulli", "", "odds ratio"}, {"bernoulli", "probit", ""}, {"binomial", "cloglog", "hazard ratio"},
		{"gaussian", "", ""}, {"poisson", "log", "rate ratio"}, {"poisson", "sqrt", ""}, {"weibull", "", "ratio of times"},
	} {
		m := &Model{Family: source.Value[string]{V: c.family}, Link: source.Value[string]{V: c.link}}
		if got := m.Ratio(); got != c.want {
			t.Errorf("%s with link %q: %q, want %q", c.family, c.link, got, c.want)
		}
	}
}

// TestRename checks that the names of brms mean the families and parameters here.
func TestRename(t *testing.T) {
	for _, c := range []struct{ family, parameter, want, parameterWant string }{
		{"negbinomial", "shape", "negative_binomial", "phi"}, {"Beta", "phi", "beta", "kappa"},
		{"Gamma", "shape", "gamma", "shape"}, {"student", "nu", "student_t", "nu"}, {"negative_binomial", "phi", "negative_binomial", "phi"},
	} {
		m := &Model{Family: source.Value[string]{V: c.family}, Priors: []*core.Definition{{Name: source.Value[string]{V: c.parameter}}}}
		m.Predicted = []*Predicted{{Name: source.Value[string]{V: c.parameter}}}
		if m.Rename(); m.Family.V != c.want || m.Priors[0].Name.V != c.parameterWant || m.Predicted[0].Name.V != c.parameterWant {
			t.Errorf("%s with %s is %s with %s", c.family, c.parameter, m.Family.V, m.Priors[0].Name.V)
		}
	}
	for _, name := range BrmsNames() {
		if FamilyOf(brms[name]) == nil || FamilyOf(name) != nil {
			t.Errorf("%s is no other name of a family", name)
		}
	}
}

// Cutpoints are logits of the shares below them.
func TestCutpoints(t *testing.T) {
	got := make([]float64, 3)
	Cutpoints(got, []float64{2, 3, 1, 4})
	for k, below := range []float64{0.2, 0.5, 0.6} {
		if want := math.Log(below / (1 - below)); math.Abs(got[k]-want) > 1e-12 {
			t.Errorf("cutpoint %d is %g, want %g", k, got[k], want)
		}
	}
}

// Where a quarter of the times is known, the fit starts at four times the observed ones. A log hazard
// starts at the negative logarithm.
func TestStartOfCensoredTimes(t *testing.T) {
	mean := func(values []float64) (float64, float64, []float64) { return (values[0] + values[1]) / 2, 0, nil }
	y := Response{Values: []float64{10, 20}, Offsets: []float64{0.1, 0.3}, By: 5, Known: 0.25}
	log := (math.Log(8) + math.Log(16)) / 2
	for name, want := range map[string]float64{"weibull": log - 0.2, "log_logistic": log - 0.2, "gompertz": -log - 0.2} {
		at := Start{Origin: map[string]float64{}}
		y.placeTimes(FamilyOf(name), &at, mean)
		if got := at.Origin[naming.Intercept]; math.Abs(got-want) > 1e-12 {
			t.Errorf("%s starts at %g, want %g", name, got, want)
		}
	}
}
