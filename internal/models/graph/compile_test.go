package graph

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestCompileErrors(t *testing.T) {
	for want, f := range map[string]func(b *Builder) (*Node, []*Node, Options){
		"loss: has shape [k 3], want a scalar": func(b *Builder) (*Node, []*Node, Options) {
			return b.Param("x", Shape{{"k", 3}}), nil, Options{}
		},
		"add: dimension k": func(b *Builder) (*Node, []*Node, Options) {
			return b.Add(b.Param("x", Shape{{"k", 3}}), b.Param("y", Shape{{"k", 4}})), nil, Options{}
		},
		"column 5 is read, but a record has 4": func(b *Builder) (*Node, []*Node, Options) {
			return nil, []*Node{b.Exp(b.Column(5))}, Options{Columns: 4}
		},
		"loss: made from a reported mistake": func(b *Builder) (*Node, []*Node, Options) {
			x := b.Slice(b.Const(1), "k", 0)
			b.TakeErr()
			return x, nil, Options{}
		},
		"output: made from a reported mistake": func(b *Builder) (*Node, []*Node, Options) {
			x := b.Slice(b.Const(1), "k", 0)
			b.TakeErr()
			return nil, []*Node{x}, Options{}
		},
		"gradient: trigamma has no derivative": func(b *Builder) (*Node, []*Node, Options) {
			return b.elementwise(OpTrigamma, b.Param("x", nil)), nil, Options{}
		},
	} {
		b := NewBuilder()
		loss, outputs, opt := f(b)
		tape, err := Compile(b, loss, outputs, opt)
		if err == nil || !strings.Contains(err.Error(), want) || tape != nil {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestGradientPart: what an engine has to run for the gradient is the same
// with the loss and without it.
func TestGradientPart(t *testing.T) {
	for _, s := range structures {
		b := NewBuilder()
		loss := s.loss(b)
		with, err := Compile(b, loss, []*Node{b.Exp(loss)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		without, err := Compile(b, loss, nil, Options{GradientOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if without.Gradient != len(without.Record) || without.Loss != NoBuf {
			t.Errorf("%s: %d of %d instructions are for the gradient", s.name, without.Gradient, len(without.Record))
		}
		if with.Gradient != without.Gradient || with.Gradient == len(with.Record) {
			t.Errorf("%s: %d instructions with the loss, %d without", s.name, with.Gradient, without.Gradient)
		}
		for i, in := range with.Record[:with.Gradient] {
			if in.Op != without.Record[i].Op {
				t.Errorf("%s: instruction %d is %v with the loss, %v without", s.name, i, in.Op, without.Record[i].Op)
			}
		}
	}
}

// TestDerive: a value that depends on columns alone becomes columns of the row, unless it
// is far larger than the columns that it depends on. Machine.Derive fills them for any
// number of records.
func TestDerive(t *testing.T) {
	b := NewBuilder()
	y := b.Column(1)
	hoisted := b.Log1p(b.Square(y))
	large := b.OneHot(y, Dim{"level", 200})
	loss := b.Add(b.Mul(b.Param("s", nil), hoisted), b.Sum(b.Mul(b.Param("w", Shape{{"level", 200}}), large)))
	tape, err := Compile(b, loss, nil, Options{Columns: 3, GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := Compile(b, loss, nil, Options{Columns: 2}); err != nil || all.K0 != 2 {
		t.Errorf("with the last column read: %v", err)
	}
	if tape.K0 != 3 || tape.K != 4 || tape.Loss != NoBuf {
		t.Errorf("K0 %d, K %d, loss %d\n%v", tape.K0, tape.K, tape.Loss, tape)
	}
	const n = 5
	rows := make([]float64, 0, 3*n)
	for r := range n {
		rows = append(rows, -1, float64(r), -2)
	}
	for _, maxB := range []int{1, 2, 5, 8} {
		got := make([]float64, n)
		NewMachine(tape, maxB).Derive(got, rows, 3, n)
		for r := range n {
			if want := math.Log1p(float64(r * r)); got[r] != want {
				t.Errorf("batches of %d: derived column of record %d is %v, want %v", maxB, r, got[r], want)
			}
		}
	}
	m := NewMachine(tape, n)
	m.Globals(make([]float64, tape.P), nil)
	m.Records(rows, 3, n, nil)
	g := make([]float64, tape.P)
	m.Gradient(3, g)
	if g[0] != math.Log1p(9) || g[1+3] != 1 || sum(g[1:]) != 1 {
		t.Errorf("gradient %v", g)
	}
}

// TestDeriveFeatures: values that cost many products become columns, up to eight times as
// many as the columns that they depend on. Cheap values are computed in each step.
func TestDeriveFeatures(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	matrix := func(b *Builder, rows, cols int) *Node {
		v := make([]float64, rows*cols)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return b.Consts(Shape{{"r", rows}, {"c", cols}}, v)
	}
	for _, test := range []struct{ first, second, derived int }{
		{90, 0, 0}, {70, 70, 70}, {70, 80, 80}, {70, 162, 0}, // of 10 columns
	} {
		b := NewBuilder()
		x := b.MatMul(matrix(b, test.first, 10), b.Columns(0, Dim{"k", 10}))
		if test.second > 0 {
			x = b.Sqrt(b.Square(b.MatMul(matrix(b, test.second, test.first), x)))
		}
		half := x.size / 2
		x = b.Concat(Dim{"f", x.size}, b.SliceRange(x, "r", 0, half, "r"), b.Tanh(b.SliceRange(x, "r", half, x.size, "r")))
		loss := b.Softplus(b.MatMul(x, b.Param("w", Shape{{"f", x.size}})))
		tape, err := Compile(b, loss, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := test.derived
		if want > 0 {
			want++ // the squared norm
		}
		if got := tape.K - tape.K0; got != want {
			t.Errorf("%d values of %d: %d derived columns, want %d\n%v", test.second, test.first, got, want, tape)
		}
	}
}

// TestAgain: the records of the last call at another θ have the gradients of a new call.
func TestAgain(t *testing.T) {
	b := NewBuilder()
	s := b.Param("s", nil)
	tape, err := Compile(b, b.Square(b.Mul(s, b.Log1p(b.Square(b.Column(0))))), nil, Options{Columns: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, rows, g := NewMachine(tape, 4), []float64{1, 2, 3}, make([]float64, 1)
	m.Globals([]float64{7}, nil)
	m.Records(rows, 1, len(rows), nil)
	m.Globals([]float64{5}, nil)
	m.Again()
	for r, x := range rows {
		m.Gradient(r, g)
		if want := 2 * 5 * math.Pow(math.Log1p(x*x), 2); math.Abs(g[0]-want) > 1e-12*want {
			t.Errorf("gradient of record %d is %v, want %v", r, g[0], want)
		}
	}
}

// TestOutputs: a forward-only tape gives outputs of every stage and layout.
func TestOutputs(t *testing.T) {
	b := NewBuilder()
	g, k := Dim{"g", 2}, Dim{"k", 3}
	w, x := b.Param("w", Shape{g, k}), b.Columns(0, k)
	outputs := []*Node{
		w, b.Transpose(w), x, b.Slice(x, "k", 2), b.Exp(w), b.MatMul(w, x), b.Mul(w, x), b.Const(7), b.Sum(x),
		b.MatMul(x, b.Rename(x, "k", "j")), b.Aux("eta", Shape{k}, true), b.Aux("eps", nil, false),
		b.CumSum(x, "k"), b.MaxOver(x), b.Mean(w, "g"), b.Diag(x, "j"), b.DiagPart(b.MatMul(b.Transpose(b.Rename(w, "k", "h")), w)),
		b.Reshape(x, Shape{{"a", 3}, {"b", 1}}), b.Softmax(x, "k"), b.SliceRange(x, "k", 1, 3, "l"),
		b.Gather(w, "k", b.OneHot(b.Slice(x, "k", 0), g)), // pairs g
	}
	tape, err := Compile(b, nil, outputs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkForm(t, tape)
	if len(tape.Terms) != 0 || tape.Loss != NoBuf {
		t.Errorf("a forward-only tape has terms or a loss\n%v", tape)
	}
	theta := []float64{1, 2, 3, 4, 5, 6}
	rows := []float64{1, 2, 4, 0, -1, 1}
	m := NewMachine(tape, 2)
	m.Globals(theta, []float64{0.25})
	if m.Loss() != nil {
		t.Error("a forward-only tape has a loss")
	}
	m.Records(rows, 3, 2, []float64{10, 20, 11, 21, 12, 22})
	e := math.Exp(1)
	for i, want := range [][]float64{
		theta,
		{1, 4, 2, 5, 3, 6},
		{1, 0, 2, -1, 4, 1},
		{4, 1},
		{e, e * e, e * e * e, math.Exp(4), math.Exp(5), math.Exp(6)},
		{17, 1, 38, 1},
		{1, 0, 4, -2, 12, 3, 4, 0, 10, -5, 24, 6},
		{7},
		{7, 0},
		{21, 2},
		{10, 20, 11, 21, 12, 22},
		{0.25},
		{1, 0, 3, -1, 7, 0},
		{4, 1},
		{2.5, 3.5, 4.5},
		{1, 0, 0, 0, 0, 0, 0, 0, 2, -1, 0, 0, 0, 0, 0, 0, 4, 1},
		{17, 29, 45},
		{1, 0, 2, -1, 4, 1},
		softmaxes(rows),
		{2, -1, 4, 1},
		{1, 2, 5, 4},
	} {
		closeTo(t, outputs[i].Op().String(), m.Output(i), want, 1e-14)
	}
}

func softmaxes(rows []float64) []float64 {
	out := make([]float64, 6)
	for r := range 2 {
		s := 0.0
		for _, v := range rows[3*r : 3*r+3] {
			s += math.Exp(v)
		}
		for i, v := range rows[3*r : 3*r+3] {
			out[2*i+r] = math.Exp(v) / s
		}
	}
	return out
}

// TestBatches: a record's result depends on no other record, whatever the batch, and is
// that of the plain reference but for rounding.
func TestBatches(t *testing.T) {
	b := NewBuilder()
	loss := structures[2].loss(b)
	tape, err := Compile(b, loss, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	theta, d := randomPoint(rand.New(rand.NewPCG(7, 8)), tape.P, 3, 4, 9)
	whole, one, plain := NewMachine(tape, d.N), NewMachine(tape, 2), NewMachine(tape, 1)
	for _, m := range []*Machine{whole, one, plain} {
		m.Globals(theta, nil)
	}
	whole.Records(d.Rows, d.Stride, d.N, nil)
	g, h, reference := make([]float64, tape.P), make([]float64, tape.P), make([]float64, tape.P)
	for r := range d.N {
		one.Records(d.Rows[r*d.Stride:], d.Stride, 1, nil)
		plain.Records(d.Rows[r*d.Stride:], d.Stride, 1, nil)
		whole.Gradient(r, g)
		one.Gradient(0, h)
		plain.Gradient(0, reference)
		if !slices.Equal(g, h) || whole.Loss()[r] != one.Loss()[0] {
			t.Errorf("record %d: %v alone, %v in the batch", r, h, g)
		}
		closeTo(t, "gradient", g, reference, 1e-13)
	}
	whole.Records(nil, d.Stride, 0, nil)
	if len(whole.Loss()) != 0 {
		t.Errorf("an empty batch has losses %v", whole.Loss())
	}
}

func TestMachinePanicsOnMisuse(t *testing.T) {
	b := NewBuilder()
	tape, err := Compile(b, b.Mul(b.Param("p", nil), b.Aux("e", nil, true)), nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(m *Machine){
		"parameters":   func(m *Machine) { m.Globals(nil, nil) },
		"large batch":  func(m *Machine) { m.Records(nil, 0, 3, make([]float64, 3)) },
		"little noise": func(m *Machine) { m.Records(nil, 0, 2, make([]float64, 1)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f(NewMachine(tape, 2))
		}()
	}
}

func TestNoAllocation(t *testing.T) {
	for _, s := range structures {
		b := NewBuilder()
		loss := s.loss(b)
		tape, err := Compile(b, loss, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		theta, d := randomPoint(rand.New(rand.NewPCG(9, 10)), tape.P, 3, 4, 7)
		m := NewMachine(tape, d.N)
		g, scale := make([]float64, tape.P), make([]float64, d.N)
		if n := testing.AllocsPerRun(10, func() {
			m.Globals(theta, nil)
			m.Records(d.Rows, d.Stride, d.N, nil)
			m.Gradient(1, g)
			scale[2] = m.SquaredNorm(2)
			m.AddGradients(scale, g)
			m.Loss()
		}); n != 0 {
			t.Errorf("%s: %v allocations", s.name, n)
		}
	}
}

// Untouched has the parameters that the loss does not read, and no scalar in which a record has a gradient.
func TestUntouched(t *testing.T) {
	for _, s := range structures {
		b := NewBuilder()
		b.Param("before", Shape{{"n", 2}})
		loss := s.loss(b)
		b.Param("after", nil)
		tape, err := Compile(b, loss, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		const records = 100
		theta, d := randomPoint(rand.New(rand.NewPCG(3, 4)), tape.P, 3, 4, records)
		m, gradient, got := NewMachine(tape, records), make([]float64, tape.P), tape.Untouched()
		m.Globals(theta, nil)
		m.Records(d.Rows, d.Stride, records, nil)
		for r := range records {
			m.Gradient(r, gradient)
			for _, j := range got {
				if gradient[j] != 0 {
					t.Fatalf("%s: record %d has a gradient in %d of the untouched %v", s.name, r, j, got)
				}
			}
		}
		for _, j := range []int{0, 1, tape.P - 1} {
			if !slices.Contains(got, j) {
				t.Errorf("%s: untouched are %v, without %d", s.name, got, j)
			}
		}
	}
}
