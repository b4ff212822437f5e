package expr

import (
	"testing"

	"d3p/internal/models/graph"
)

// The hierarchical model of the language's design, line by line: every
// expression lowers to the shape that the next one needs.
func TestHierarchicalExample(t *testing.T) {
	b := graph.NewBuilder()
	env := &Env{
		Dims: map[string]Dim{
			"coef":     {2, []string{"age", "severity"}},
			"re":       {2, []string{"Intercept", "age"}},
			"gcoef":    {2, []string{"beds", "teaching"}},
			"hospital": {5, []string{"a", "b", "c", "d", "e"}},
		},
		Values:  map[string]Value{},
		Columns: []string{"age", "severity", "hospital", "died30"},
	}
	for _, p := range []struct{ name, prior string }{
		{"b_Intercept", "normal(-2, 1.5)"},
		{"b", "normal(0, 1) [coef]"},
		{"g", "normal(0, 0.5) [re, gcoef]"},
		{"sd", "half_normal(1) [re]"},
		{"L", "lkj_cholesky(2) [re, re]"},
		{"z", "normal(0, 1) [hospital, re]"},
	} {
		e, errs := Parse(p.prior, Position{})
		if errs != nil {
			t.Fatal(errs)
		}
		distribution, dims, errs := SplitDims(e)
		if errs != nil {
			t.Fatal(errs)
		}
		shape, errs := env.Shape(dims)
		if errs != nil {
			t.Fatal(errs)
		}
		density, errs := LowerDensity(distribution, env, b)
		if errs != nil {
			t.Fatal(errs)
		}
		if err := density.Fits(shape); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		support := density.Support()
		env.Values[p.name] = Value{Node: b.Param(p.name, shape), Support: &support}
	}
	env.Values["W"] = Value{Node: b.Consts(graph.Shape{{Name: "hospital", Size: 5}, {Name: "gcoef", Size: 2}}, make([]float64, 10))}
	define := func(name, src, shape string) {
		t.Helper()
		e, errs := Parse(src, Position{})
		if errs != nil {
			t.Fatal(errs)
		}
		n, errs := Lower(e, env, b)
		if errs != nil {
			t.Fatalf("%s: %v", name, errs)
		}
		if got := n.Shape().String(); got != shape {
			t.Errorf("%s has shape %s, want %s", name, got, shape)
		}
		env.Values[name] = Value{Node: n}
	}
	define("r", "W @ transpose(g) + z @ transpose(diag(sd) @ L)", "[hospital 5, re 2]")
	env.Values["X"] = Value{Node: b.Columns(0, graph.Dim{Name: "coef", Size: 2})}
	env.Values["age"] = Value{Node: b.Column(0)}
	env.Values["hospital"] = Value{Node: b.Column(2), Labels: env.Dims["hospital"].Labels}
	define("eta", "b_Intercept + X @ b + r[hospital, 'Intercept'] + r[hospital, 'age'] * age", "scalar")
	e, _ := Parse("bernoulli(logits=eta)", Position{})
	if density, errs := LowerDensity(e, env, b); errs != nil || density.Fits(nil) != nil {
		t.Errorf("bernoulli(logits=eta): %v", errs)
	}
}

// Parsing and lowering the linear predictor of a line of a model.
func BenchmarkLower(b *testing.B) {
	w := newWorld()
	for b.Loop() {
		e, _ := Parse("slope + columns(coef) @ b + u[hospital, 'Intercept'] + u[hospital, 'age'] * age", Position{})
		if _, errs := Lower(e, w.env, w.b); errs != nil {
			b.Fatal(errs)
		}
	}
}
