package plan_test

import (
	"math"
	"strings"
	"testing"

	"d3p/internal/fit/fittest"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/table1"
)

// coreBounded is a core model whose density depends on one number that is affine in the parameters.
func coreBounded(observed string, edits ...string) string {
	edits = append([]string{`{type: binary, levels: ["0", "1"]}`, "{type: real, lower: -2, upper: 2, scale: {center: 0, by: 1}}",
		"model:\n  formula: y ~ 1 + x + z\n  family: bernoulli\n", `core:
  dims: {k: [x, z]}
  params:
    a: normal(0, 1)
    b: normal(0, 1) [k]
  rows:
    let:
      eta: a + columns(k) @ b
    observe:
      y: ` + observed + "\n"}, edits...)
	text := boundedModel
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			panic("the model does not hold " + edits[i])
		}
		text = strings.ReplaceAll(text, edits[i], edits[i+1])
	}
	return text
}

// Densities of a location, at a scale that is a number, have gradients within the bound in all
// coordinates, and some nearly as long. The bound is looser where terms of one column have
// spans of their own.
func TestNoGradientOfACoreModelExceedsItsBound(t *testing.T) {
	levels := []string{"k: [x, z]", "k: [x, z, g=b, g=c]"}
	missing := []string{"likelihood:", "  missing: {x: {impute: 3, indicator: true}}\nlikelihood:", "k: [x, z]", "k: [x, x_missing, z]"}
	spline := []string{"k: [x, z]", "k: [x, z], s: 2", "[k]\n  rows", "[k]\n    c: normal(0, 1) [s]\n  rows",
		"columns(k) @ b", "columns(k) @ b + spline(z, knots=[-1.5, -0.5, 0.5], over=s) @ c"}
	groups := []string{"k: [x, z]", "k: [x, z], h: levels(g)", "[k]\n  rows", "[k]\n    u: normal(0, 1) [h]\n  rows", "columns(k) @ b", "columns(k) @ b + u[g] * x"}
	for _, c := range []struct {
		observed string
		edits    []string
		least    float64
	}{
		{"normal(eta, 0.7)", nil, 0.98},
		{"normal(eta, 0.2)", []string{"beta: 1.5", "beta: 2.5"}, 0.98},
		{"laplace(eta, 0.7)", nil, 0.97},
		{"student_t(4, eta, 0.7)", nil, 0.98},
		{"student_t(1.5, eta, 2)", []string{"beta: 1.5", "beta: 1.2"}, 0.98},
		{"normal(2 * eta - 1, 0.7)", nil, 0.98},
		{"normal(eta, 0.7)", levels, 0.98},
		{"normal(eta, 0.7)", []string{"k: [x, z]", `k: [x, "x:z"]`}, 0.98},
		{"normal(eta, 0.7)", []string{"beta: 1.5}", "beta: 1.5, gibbs: {weight: 0.3}}"}, 0.98},
		{"normal(eta + log(raw(z) + 3), 0.7)", nil, 0.98}, // an offset
		{"normal(eta, 0.7)", missing, 0.8},
		{"normal(eta, 0.7)", spline, 0.5},
		{"normal(eta, 0.7)", groups, 0.98},
		{"normal(eta * abs(z) / (raw(x) + 2), 0.7)", nil, 0.5},
	} {
		name := c.observed + strings.Join(c.edits, " ")
		m := modelstest.Compile(t, "core.yaml", coreBounded(c.observed, c.edits...))
		p := fittest.Plan(t, m, plan.Config{Epsilon: 1})
		if err := p.Learn(m.DeclaredLaw()); err != nil {
			t.Fatal(err)
		}
		if p.ClipBound != table1.GradientBound(p.Model()) || p.StepClipNorm(0) > p.ClipBound {
			t.Errorf("%s: clip norm %g beyond the bound %g", name, p.StepClipNorm(0), p.ClipBound)
		}
		for i, m := range []*models.Model{p.Model(), uneven(t, m)} {
			bound, found := table1.GradientBound(m), longestGradient(m)
			if !(found <= bound && found >= c.least*bound) {
				t.Errorf("%s, coordinates %d: a gradient of norm %.6g, the bound is %.6g", name, i, found, bound)
			}
		}
	}
}

// A scale that is a parameter, and a mean that is not affine in the parameters, have no bound.
func TestCoreGradientsWithoutABound(t *testing.T) {
	for _, unbounded := range []string{"normal(eta, exp(a))", "normal(exp(eta), 0.7)", "normal(eta * a, 0.7)", "normal(tanh(eta) * a, 0.7)", "normal(eta / x, 0.7)", "normal(x / eta, 0.7)"} {
		m := modelstest.Compile(t, "core.yaml", coreBounded(unbounded))
		if bound := table1.GradientBound(m); !math.IsInf(bound, 1) {
			t.Errorf("%s: gradients bounded by %g", unbounded, bound)
		}
	}
}

// Log odds of a core model have the bound of the formula that stands for it.
func TestCoreLogitHasTheBoundOfItsFormula(t *testing.T) {
	formula := modelstest.Compile(t, "formula.yaml", boundedModel)
	core := modelstest.Compile(t, "core.yaml", coreBounded("bernoulli(logits=eta)", "{type: real, lower: -2, upper: 2, scale: {center: 0, by: 1}}", `{type: binary, levels: ["0", "1"]}`))
	if a, b := table1.GradientBound(formula), table1.GradientBound(core); math.Abs(a/b-1) > 1e-6 {
		t.Errorf("the formula has %g, its core %g", a, b)
	}
}
