package expr

import (
	"math"
	"strings"
	"testing"

	"d3p/internal/models/dist"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// world is an Env with parameters u [hospital, re], b and g, a few columns and
// their values: row = age, raw age, hospital, sex, event.
type world struct {
	env *Env
	b   *graph.Builder
	row []float64
}

func newWorld() world {
	b := graph.NewBuilder()
	hospital := graph.Dim{Name: "hospital", Size: 3}
	re := graph.Dim{Name: "re", Size: 2}
	coef := graph.Dim{Name: "coef", Size: 2}
	real, positive := &support.Support{Kind: support.Real}, &support.Support{Kind: support.Positive}
	simplex := &support.Support{Kind: support.Simplex}
	env := &Env{
		Values: map[string]Value{
			"u":        {Node: b.Consts(graph.Shape{hospital, re}, []float64{1, 2, 3, 4, 5, 6}), Support: real},
			"b":        {Node: b.Consts(graph.Shape{coef}, []float64{10, 20}), Support: real},
			"A":        {Node: b.Consts(graph.Shape{re, {Name: "re'", Size: 2}}, []float64{1, 2, 3, 4}), Support: real},
			"sd":       {Node: b.Consts(graph.Shape{re}, []float64{2, 3}), Support: positive},
			"slope":    {Node: b.Param("slope", nil), Support: real},
			"sigma":    {Node: b.Exp(b.Param("sigma", nil)), Support: positive},
			"pis":      {Node: b.Consts(graph.Shape{{Name: "k", Size: 2}}, []float64{0.25, 0.75}), Support: simplex},
			"mus":      {Node: b.Consts(graph.Shape{{Name: "k", Size: 2}}, []float64{-1, 1}), Support: real},
			"age":      {Node: b.Column(0), Raw: b.Column(1)},
			"hospital": {Node: b.Column(2), Labels: []string{"north", "south", "west"}},
			"sex":      {Node: b.Column(3), Labels: []string{"female", "male"}},
			"event":    {Node: b.Column(4), Raw: b.Column(4)},
		},
		Dims: map[string]Dim{
			"hospital": {3, []string{"north", "south", "west"}},
			"re":       {2, []string{"Intercept", "age"}},
			"coef":     {2, []string{"age", "sex=male"}},
			"k":        {2, NumberedLabels(2)},
			"basis":    {3, NumberedLabels(3)},
		},
		Unscalings:   map[string]*graph.Combination{"coef": {From: []int{0, 1, 1}, Into: []int{0, 0, 1}, Times: []float64{1, -3, 0.5}}},
		Design:       map[string]*graph.Node{"coef": b.Stack(coef, b.Column(0), b.Column(3))},
		Coefficients: map[string]*graph.Node{"sex=male": b.Column(3)},
		Columns:      []string{"age", "hospital", "sex", "event", "outside"},
	}
	return world{env, b, []float64{0.5, 70, 2, 1, 1}}
}

// lower parses and lowers src; the parameters slope and sigma are 2 and 1.
func (w world) lower(t *testing.T, src string) (*graph.Node, Errors) {
	t.Helper()
	e, errs := Parse(src, Position{File: "m.yaml", Line: 1, Column: 1})
	if errs != nil {
		t.Fatalf("Parse(%q): %v", src, errs)
	}
	return Lower(e, w.env, w.b)
}

func (w world) value(t *testing.T, n *graph.Node) []float64 {
	t.Helper()
	tape, err := graph.Compile(w.b, nil, []*graph.Node{n}, graph.Options{Columns: len(w.row)})
	if err != nil {
		t.Fatal(err)
	}
	m := graph.NewMachine(tape, 1)
	m.Globals([]float64{2, 0}, nil)
	m.Records(w.row, len(w.row), 1, nil)
	return m.Output(0)
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		src  string
		want []float64
	}{
		{"1 + 2 * 3 - 4 / 8", []float64{6.5}},
		{"-2 ^ 2", []float64{-4}},
		{"2 ^ -1 ^ 2", []float64{0.5}},
		{"slope * age", []float64{1}},
		{"b", []float64{10, 20}},
		{"u['south', 'age']", []float64{4}},
		{"u[hospital, 'Intercept']", []float64{5}},
		{"u[hospital]", []float64{5, 6}},
		{"u['north', re]", []float64{1, 2}},
		{"pis[2]", []float64{0.75}},
		{"columns(coef) @ b", []float64{25}},
		{"dot(columns(coef), b)", []float64{25}},
		{"column('sex=male')", []float64{1}},
		{"sex == 'male'", []float64{1}},
		{"'female' == sex", []float64{0}},
		{"sex != 'male'", []float64{0}},
		{"age < 1 and sex == 'female'", []float64{0}},
		{"age < 1 or sex == 'female'", []float64{1}},
		{"not age < 1", []float64{0}},
		{"age <= 0.5", []float64{1}},
		{"age > 0.5", []float64{0}},
		{"age >= 0.5", []float64{1}},
		{"raw(age)", []float64{70}},
		{"scale(age)", []float64{0.5}},
		{"offset(log(raw(age)))", []float64{math.Log(70)}},
		{"transpose(A)", []float64{1, 3, 2, 4}},
		{"diag(sd) @ A", []float64{2, 4, 9, 12}},
		{"A @ A", []float64{7, 10, 15, 22}},
		{"transpose(A) @ A", []float64{10, 14, 14, 20}},
		{"u @ A", []float64{7, 10, 15, 22, 23, 34}},
		{"diag(A)", []float64{1, 4}},
		{"sum(u)", []float64{21}},
		{"sum(u, over=re)", []float64{3, 7, 11}},
		{"mean(u, over=hospital)", []float64{3, 4}},
		{"max(u)", []float64{6}},
		{"max(u, over=hospital)", []float64{5, 6}},
		{"min(u, over=re)", []float64{1, 3, 5}},
		{"max(age, 2)", []float64{2}},
		{"min(age, over=re, y=2)", []float64{0.5}},
		{"cumsum(b)", []float64{10, 30}},
		{"softmax(0 * b)", []float64{0.5, 0.5}},
		{"log_softmax(0 * b, over=coef)", []float64{-math.Ln2, -math.Ln2}},
		{"logsumexp(0 * b)", []float64{math.Ln2}},
		{"unscaled(b, over=coef)", []float64{10 - 3*20, 0.5 * 20}},
		{"one_hot(hospital, over=hospital)", []float64{0, 0, 1}},
		{"clip(slope, 0, 1)", []float64{1}},
		{"where(age < 1, slope, 0)", []float64{2}},
		{"pow(slope, 3)", []float64{8}},
		{"logit(sigmoid(slope))", []float64{2}},
		{"cloglog(inv_cloglog(0.5))", []float64{0.5}},
		{"probit_cdf(0)", []float64{0.5}},
		{"softplus(0)", []float64{math.Ln2}},
		{"2 * pi", []float64{2 * math.Pi}},
		{"poly(slope, over=basis)", []float64{2, 4, 8}},
		// x = 2 lies beyond the last knot, where the spline is linear.
		{"spline(slope, knots=[-1, 0, 0.5, 1], over=basis)", []float64{2, (27 - 3.375*2/0.5 + 1*1.5/0.5) / 4, (8 - 3.375*1/0.5 + 1*0.5/0.5) / 4}},
	} {
		w := newWorld()
		n, errs := w.lower(t, c.src)
		if errs != nil {
			t.Errorf("%s: %v", c.src, errs)
			continue
		}
		got := w.value(t, n)
		same := len(got) == len(c.want)
		for i := range got {
			same = same && math.Abs(got[i]-c.want[i]) < 1e-12*math.Max(1, math.Abs(c.want[i]))
		}
		if !same {
			t.Errorf("%s = %v, want %v", c.src, got, c.want)
		}
	}
}

// A matrix product of two factors with a common other dim has that dim twice.
func TestProductShapes(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"A @ A", "[re 2, re' 2]"},
		{"transpose(A) @ A", "[re' 2, re'' 2]"},
		{"u @ transpose(diag(sd) @ A)", "[hospital 3, re 2]"},
		{"u @ transpose(u)", "[hospital 3, hospital' 3]"},
		{"transpose(u) @ u", "[re 2, re' 2]"},
	} {
		w := newWorld()
		n, errs := w.lower(t, c.src)
		if errs != nil {
			t.Errorf("%s: %v", c.src, errs)
		} else if got := n.Shape().String(); got != c.want {
			t.Errorf("%s has shape %s, want %s", c.src, got, c.want)
		}
	}
}

// Mistakes in expressions: each with its place and what to do.
func TestLoweringMistakes(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"slpe * age", "1:1: unknown name slpe (did you mean slope?)"},
		{"1 + nothing", "1:5: unknown name nothing (declare it under params: or let:)"},
		{"outside + 1", "1:1: column outside has a value only inside rows: (move it to rows: let:, or use a declared constant)"},
		{"coef + 1", "1:1: coef is a dim, not a number (dims serve as an index or as over=coef)"},
		{"exp + 1", "1:1: exp is a function (write exp(...))"},
		{"expp(1)", "1:1: unknown function expp (did you mean exp?)"},
		{"'male' + 1", "1:1: the label 'male' is no number (labels serve as an index, u[hospital, 'label'], or beside a category, sex == 'male')"},
		{"sex == 'mael'", "1:8: sex has no level 'mael' (did you mean male?)"},
		{"age == 'male'", "1:8: age is no category and has no level 'male'"},
		{"mean(age)", "1:1: mean(age) would mix records: age has no dim but the records (inside one record it has nothing to reduce; name a dim with over=, or use a declared constant)"},
		{"sum(age, over=rows)", "1:1: sum(age) would mix records: age has no dim but the records (inside one record it has nothing to reduce; name a dim with over=, or use a declared constant)"},
		{"cumsum(age)", "1:1: cumsum(age) would mix records: age has no dim but the records (inside one record it has nothing to reduce; name a dim with over=, or use a declared constant)"},
		{"sum(slope)", "1:1: sum(slope): slope is a single number"},
		{"batch_norm(age)", "1:1: batch_norm mixes records: it normalises with the mean of the batch, so no record's gradient has a bound (use layer_norm or group_norm, or scale: in the data block)"},
		{"age - lag(age)", "1:7: lag mixes records: it reads an earlier record, so no record's gradient has a bound (make the earlier value a column of the same record, or declare a unit with several rows)"},
		{"scale(event)", "1:1: scale(event) would need the mean and sd of all records (declare scale: {center: ..., by: ...} for the column)"},
		{"normal(0, 1) + 1", "1:1: normal is a distribution, not a number (name it under params: or observe it in rows: observe:)"},
		{"normal(0, 1) [k] + 1", "1:1: normal is a distribution, not a number (name it under params: or observe it in rows: observe:)"},
		{"u['east', 'age']", "1:3: dim hospital has no label 'east' (see dims:)"},
		{"u[hospital, re, re]", "1:17: u has 2 dims, [hospital 3, re 2], but 3 indices"},
		{"u[sex]", "1:3: the levels of sex are not the labels of dim hospital (declare the dim as levels(sex))"},
		{"u[age]", "1:3: age is no category and cannot be an index (declare it as a category with the levels of dim hospital)"},
		{"u[slope]", "1:3: slope depends on parameters and cannot be an index (discrete quantities are summed out: see mixture())"},
		{"u[hospitel]", "1:3: unknown index hospitel of dim hospital (did you mean hospital?)"},
		{"u[1 + 1]", "1:5: an index is a label or a category column, not 1 + 1 (give it a name under rows: let: as a category, or use where(...))"},
		{"u @ b", "1:3: @ sums over the last dim of the left and the first of the right, which differ: [hospital 3, re 2] @ [coef 2] (transpose one side so that the same dim meets)"},
		{"slope @ b", "1:7: @ needs a dim on both sides, not scalar @ [coef 2] (use * to multiply numbers)"},
		{"sum(u, over=coef)", "1:13: no dim coef in [hospital 3, re 2]"},
		{"sum(u, over=hospitl)", "1:13: unknown dim hospitl (did you mean hospital?)"},
		{"softmax(u)", "1:1: softmax needs one dim, not [hospital 3, re 2] (name one with over=)"},
		{"clip(slope, 0)", "1:1: clip needs its argument upper"},
		{"exp(1, 2)", "1:8: exp takes 1 arguments, not 2"},
		{"clip(slope, 0, uper=1)", "1:16: clip has no argument uper (did you mean upper?)"},
		{"cholesky(A)", "1:1: cholesky of a matrix is not available (declare the factor itself: L: lkj_cholesky(2) [k, k])"},
		{"transpose(slope)", "1:1: transpose: scalar has 0 dimensions, want 2"},
		{"columns(re)", "1:9: the labels of dim re are not predictors (label the dim with columns, and use it inside rows:)"},
		{"column('sex=mal')", "1:8: unknown predictor 'sex=mal' (did you mean sex=male?)"},
		{"raw(sex)", "1:5: sex is not a numeric column"},
		{"encoder(age).loc", "1:1: unknown function encoder (d3p help distributions lists them)"},
		{"inv_logit(age)", "1:1: unknown function inv_logit (write sigmoid(x))"},
		{"[1, 2]", "1:1: a list is no number (lists serve as arguments such as knots=[30, 90])"},
		{"spline(age, knots=[1, 1, 2], over=basis)", "1:19: knots must be at least three increasing numbers"},
		{"spline(age, knots=[1, 2, 3], over=basis)", "1:35: a natural spline with 3 knots has 2 elements, dim basis has 3"},
		{"slp + ag * expp(bb)", "1:1: unknown name slp (declare it under params: or let:)\n1:7: unknown name ag (did you mean age?)\n1:12: unknown function expp (did you mean exp?)\n1:17: unknown name bb (did you mean b?)"},
	} {
		w := newWorld()
		n, errs := w.lower(t, c.src)
		if n != nil || errs == nil {
			t.Errorf("%s lowers", c.src)
			continue
		}
		if got := strings.ReplaceAll(errs.Error(), "m.yaml:", ""); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.src, got, c.want)
		}
		if err := w.b.Err(); err != nil {
			t.Errorf("%s leaves the Builder with %v", c.src, err)
		}
	}
}

// Whatever parses either lowers or is refused, as a number and as a density.
func FuzzLower(f *testing.F) {
	for _, seed := range []string{
		"u[hospital, 'Intercept'] * age", "columns(coef) @ b", "mixture(pis, normal(mus, sigma), over=k)",
		"truncated(normal(0, 1), 0, inf)", "softmax(u, over=re) @ transpose(A)", "sex == 'male' and not event",
		"spline(age, knots=[0, 1, 2, 3], over=basis)", "dirichlet(1)", "mean(u, over=rows)", "1 / 0 ^ -1", "diag(u)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		e, errs := Parse(src, Position{})
		if errs != nil {
			return
		}
		w := newWorld()
		if n, errs := Lower(e, w.env, w.b); (n == nil) == (errs == nil) {
			t.Errorf("Lower(%q) = %v, %v", src, n, errs)
		}
		if d, errs := LowerDensity(e, w.env, w.b); (d == nil) == (errs == nil) {
			t.Errorf("LowerDensity(%q) = %v, %v", src, d, errs)
		} else if d != nil && d.Fits(nil) == nil {
			d.LogDensity(w.b, dist.Observed{X: w.env.Values["age"].Node})
		}
		if n, errs := Lower(e, w.env, w.b); errs == nil && w.b.TakeErr() == nil && n == nil {
			t.Errorf("Lower(%q) leaves the Builder broken", src)
		}
	})
}
