package graph

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Cases of structured gradients: what the terms of the tape must be.
var structures = []struct {
	name  string
	loss  func(b *Builder) *Node // columns: 3 reals x, then an index below 4
	terms string                 // kinds of the terms, in order
	cross int
	notes int
}{
	{
		name: "linear predictor",
		loss: func(b *Builder) *Node {
			return b.Softplus(b.MatMul(b.Columns(0, Dim{"k", 3}), b.Param("w", Shape{{"k", 3}})))
		},
		terms: "outer",
	},
	{
		name: "two dense layers",
		loss: func(b *Builder) *Node {
			h := b.Tanh(b.MatMul(b.Columns(0, Dim{"k", 3}), b.Param("w", Shape{{"k", 3}, {"h", 5}})))
			o := b.Tanh(b.Add(b.MatMul(b.Param("v", Shape{{"o", 2}, {"h", 5}}), h), b.Param("c", Shape{{"o", 2}})))
			return b.Sum(o)
		},
		terms: "outer outer dense",
	},
	{
		name: "tied parameter: two products and a gather",
		loss: func(b *Builder) *Node {
			w := b.Param("w", Shape{{"g", 4}, {"k", 3}})
			x := b.Columns(0, Dim{"k", 3})
			h := b.Tanh(b.MatMul(w, x))
			o := b.Tanh(b.MatMul(w, b.Tanh(b.Mul(b.Const(2), b.MatMul(h, w)))))
			return b.Add(b.Sum(o), b.Sum(b.Mul(x, b.Gather(w, "g", b.Column(3)))))
		},
		terms: "scatter outer",
		cross: 1,
	},
	{
		name: "one matrix at three inputs with two places each",
		loss: func(b *Builder) *Node {
			w, x := b.Param("w", Shape{{"o", 2}, {"k", 3}}), b.Columns(0, Dim{"k", 3})
			at := func(x *Node) *Node { return b.Tanh(b.MatMul(w, b.Transpose(b.Stack(Dim{"p", 2}, x, b.Sin(x))))) }
			return b.Sum(b.Mul(b.Mul(at(x), at(b.Cos(x))), at(b.Square(x))))
		},
		terms: "outer",
	},
	{
		name: "products of two matrices of the record",
		loss: func(b *Builder) *Node {
			w := b.Param("w", Shape{{"i", 2}, {"k", 3}})
			v := b.Param("v", Shape{{"j", 3}, {"k", 3}})
			x := b.Columns(0, Dim{"k", 3})
			p := b.Product(b.Sin(b.Mul(w, x)), b.Tanh(b.Mul(v, x))) // [i, j]
			q := b.Product(p, b.Square(b.Rename(p, "i", "i'")))     // [i, i']
			return b.Sum(b.Sin(q))
		},
		terms: "dense dense",
	},
	{
		name: "two gathers of one parameter",
		loss: func(b *Builder) *Node {
			w := b.Param("w", Shape{{"g", 4}, {"k", 3}})
			other := b.Sub(b.Const(3), b.Column(3))
			return b.Sum(b.Mul(b.Gather(w, "g", b.Column(3)), b.Tanh(b.Gather(w, "g", other))))
		},
		terms: "scatter scatter",
		cross: 1,
	},
	{
		name: "non-centred effects: sd·z[group]",
		loss: func(b *Builder) *Node {
			r := b.Mul(b.Exp(b.Param("logsd", Shape{{"k", 3}})), b.Param("z", Shape{{"g", 4}, {"k", 3}}))
			return b.Tanh(b.MatMul(b.Columns(0, Dim{"k", 3}), b.Gather(r, "g", b.Column(3))))
		},
		terms: "dense scatter",
	},
	{
		name: "correlated effects and group-level predictors: (z·L + W·g)[group]",
		loss: func(b *Builder) *Node {
			L := b.Place(b.Exp(b.Param("l", Shape{{"tri", 6}})), Shape{{"k", 3}, {"k2", 3}}, []int32{0, 3, 4, 6, 7, 8})
			W := b.Consts(Shape{{"g", 4}, {"p", 2}}, []float64{1, 2, -1, 0.5, 0.3, 0.1, 2, -2})
			r := b.Add(b.MatMul(W, b.Transpose(b.Param("m", Shape{{"k", 3}, {"p", 2}}))),
				b.Rename(b.MatMul(b.Param("z", Shape{{"g", 4}, {"k", 3}}), L), "k2", "k"))
			return b.Tanh(b.MatMul(b.Columns(0, Dim{"k", 3}), b.Gather(r, "g", b.Column(3))))
		},
		terms: "dense outer scatter",
		notes: 1, // the outer product through Place, six values
	},
	{
		name: "gather along the last dimension of a product",
		loss: func(b *Builder) *Node {
			r := b.MatMul(b.Param("m", Shape{{"k", 3}, {"p", 2}}), b.Param("u", Shape{{"p", 2}, {"g", 4}}))
			return b.Tanh(b.MatMul(b.Columns(0, Dim{"k", 3}), b.Gather(r, "g", b.Column(3))))
		},
		terms: "outer scatter",
	},
	{
		name: "elements of one vector",
		loss: func(b *Builder) *Node {
			w := b.Param("w", Shape{{"k", 3}})
			return b.Tanh(b.Add(b.Mul(b.Slice(w, "k", 0), b.Column(0)), b.Slice(w, "k", 2)))
		},
		terms: "dense dense",
	},
	{
		name: "a slice of a gathered matrix",
		loss: func(b *Builder) *Node {
			w := b.Param("w", Shape{{"g", 4}, {"k", 3}})
			slope := b.Slice(b.Gather(w, "g", b.Column(3)), "k", 1)
			level := b.Gather(b.Slice(w, "k", 0), "g", b.Column(3))
			return b.Tanh(b.Add(level, b.Mul(slope, b.Column(0))))
		},
		terms: "scatter",
	},
	{
		name: "rows and a column of a gathered matrix",
		loss: func(b *Builder) *Node {
			w := b.Param("w", Shape{{"g", 4}, {"k", 3}})
			rows := b.Gather(w, "g", b.Column(3))
			column := b.Gather(b.Slice(w, "k", 2), "g", b.Column(3))
			return b.Tanh(b.Add(b.Mul(b.Slice(rows, "k", 1), b.Column(0)), column))
		},
		terms: "scatter",
	},
	{
		name: "low-rank weights",
		loss: func(b *Builder) *Node {
			w := b.MatMul(b.Param("a", Shape{{"k", 3}, {"r", 2}}), b.Param("c", Shape{{"r", 2}, {"h", 4}}))
			return b.Sum(b.Tanh(b.MatMul(b.Columns(0, Dim{"k", 3}), w)))
		},
		terms: "outer outer",
	},
	{
		name: "weights with one scale",
		loss: func(b *Builder) *Node {
			w := b.Mul(b.Exp(b.Param("s", nil)), b.Param("z", Shape{{"k", 3}, {"h", 4}}))
			return b.Sum(b.Tanh(b.MatMul(b.Columns(0, Dim{"k", 3}), w)))
		},
		terms: "dense outer",
	},
	{
		name: "weights with a scale for each",
		loss: func(b *Builder) *Node {
			w := b.Mul(b.Exp(b.Param("s", Shape{{"k", 3}, {"h", 4}})), b.Param("z", Shape{{"k", 3}, {"h", 4}}))
			return b.Sum(b.Tanh(b.MatMul(b.Columns(0, Dim{"k", 3}), w)))
		},
		terms: "dense dense",
		notes: 1,
	},
	{
		name: "weights with a scale for each output",
		loss: func(b *Builder) *Node {
			w := b.Mul(b.Param("z", Shape{{"k", 3}, {"h", 4}}), b.Exp(b.Param("s", Shape{{"h", 4}})))
			return b.Sum(b.Tanh(b.MatMul(b.Columns(0, Dim{"k", 3}), w)))
		},
		terms: "outer dense",
	},
	{
		name: "weights with a scale for each input, and one for all",
		loss: func(b *Builder) *Node {
			w := b.Mul(b.Param("z", Shape{{"k", 3}, {"h", 4}}), b.Mul(b.Exp(b.Param("s", Shape{{"k", 3}})), b.Sigmoid(b.Param("t", nil))))
			return b.Sum(b.Tanh(b.MatMul(b.Columns(0, Dim{"k", 3}), w)))
		},
		terms: "outer dense dense",
	},
	{
		name: "one weight at several places of a record",
		loss: func(b *Builder) *Node {
			x := b.Take(b.Columns(0, Dim{"k", 3}), Shape{{"place", 2}, {"tap", 2}}, []int32{0, 1, 1, 2})
			return b.Sum(b.Tanh(b.MatMul(x, b.Param("w", Shape{{"tap", 2}, {"f", 3}}))))
		},
		terms: "outer",
	},
	{
		name: "one filter at places of two scales of a record",
		loss: func(b *Builder) *Node {
			w := b.Param("w", Shape{{"f", 3}, {"tap", 2}})
			x := b.Columns(0, Dim{"k", 3})
			fine := b.MatMul(w, b.Take(x, Shape{{"t", 2}, {"place", 2}}, []int32{0, 1, 1, 2}))
			coarse := b.MatMul(w, b.Take(b.Sin(x), Shape{{"t", 2}, {"place", 5}}, []int32{0, 1, 2, 0, 1, 1, 2, 0, 2, 0}))
			return b.Sum(b.Tanh(b.Mul(b.Sum(fine, "place"), b.Sum(b.Tanh(coarse), "place"))))
		},
		terms: "outer outer",
		cross: 1,
	},
	{
		name: "one filter with a scale of its own for each channel, and one for all",
		loss: func(b *Builder) *Node {
			scale := b.Mul(b.Exp(b.Param("s", Shape{{"f", 3}})), b.Sigmoid(b.Param("a", nil)))
			w := b.Mul(scale, b.Param("w", Shape{{"f", 3}, {"tap", 2}}))
			y := b.MatMul(w, b.Take(b.Columns(0, Dim{"k", 3}), Shape{{"t", 2}, {"place", 4}}, []int32{0, 1, 2, 0, 1, 1, 2, 0}))
			return b.Sum(b.Tanh(y))
		},
		terms: "dense dense outer",
	},
	{
		name: "a filter of low rank",
		loss: func(b *Builder) *Node {
			w := b.MatMul(b.Param("u", Shape{{"f", 3}, {"r", 2}}), b.Param("v", Shape{{"r", 2}, {"tap", 2}}))
			y := b.MatMul(w, b.Take(b.Columns(0, Dim{"k", 3}), Shape{{"t", 2}, {"place", 4}}, []int32{0, 1, 2, 0, 1, 1, 2, 0}))
			return b.Sum(b.Tanh(y))
		},
		terms: "outer outer",
	},
	{
		name: "an embedding of several places, also used as a filter",
		loss: func(b *Builder) *Node {
			table := b.Param("e", Shape{{"g", 4}, {"k", 3}})
			at := b.Stack(Dim{"place", 3}, b.Column(3), b.Sub(b.Const(3), b.Column(3)), b.Column(3))
			y := b.Gather(table, "g", at)
			x := b.Take(b.Columns(0, Dim{"k", 3}), Shape{{"t", 3}, {"p", 2}}, []int32{0, 1, 1, 2, 2, 0})
			z := b.Tanh(b.MatMul(table, x))
			return b.Add(b.Sum(b.Square(b.Mul(y, b.Sin(b.Sum(y, "place"))))), b.Sum(b.Mul(z, b.Sum(y))))
		},
		terms: "outer scatter",
		cross: 1,
	},
	{
		name: "two embeddings of several places by one table with scales",
		loss: func(b *Builder) *Node {
			table := b.Mul(b.Exp(b.Param("s", Shape{{"k", 3}})), b.Tanh(b.Param("e", Shape{{"g", 4}, {"k", 3}})))
			one := b.Stack(Dim{"place", 2}, b.Column(3), b.Const(2))
			other := b.Stack(Dim{"other", 3}, b.Const(2), b.Column(3), b.Const(1))
			return b.Sum(b.Mul(b.Sum(b.Gather(table, "g", one), "place"), b.Tanh(b.Sum(b.Gather(table, "g", other), "other"))))
		},
		terms: "dense scatter scatter",
		cross: 1,
	},
	{
		name: "an embedding by a table of low rank",
		loss: func(b *Builder) *Node {
			table := b.MatMul(b.Param("u", Shape{{"g", 4}, {"r", 2}}), b.Param("v", Shape{{"r", 2}, {"k", 3}}))
			at := b.Stack(Dim{"place", 2}, b.Column(3), b.Const(2))
			return b.Sum(b.Tanh(b.MatMul(b.Sum(b.Gather(table, "g", at), "place"), b.Columns(0, Dim{"k", 3}))))
		},
		terms: "scatter outer",
	},
	{
		name: "parameter used both in a product and by itself",
		loss: func(b *Builder) *Node {
			w := b.Param("w", Shape{{"k", 3}, {"h", 4}})
			return b.Add(b.Sum(b.Tanh(b.MatMul(b.Columns(0, Dim{"k", 3}), w))), b.Mul(b.Column(0), b.Sum(b.Square(w))))
		},
		terms: "dense",
		notes: 1,
	},
	{
		name: "simplex of gathered logits",
		loss: func(b *Builder) *Node {
			return b.Gather(b.LogSoftmax(b.Param("a", Shape{{"g", 4}}), "g"), "g", b.Column(3))
		},
		terms: "dense",
		notes: 1,
	},
	{
		name: "category of a linear predictor",
		loss: func(b *Builder) *Node {
			eta := b.MatMul(b.Columns(0, Dim{"k", 3}), b.Param("w", Shape{{"k", 3}, {"g", 4}}))
			return b.Gather(b.LogSoftmax(eta, "g"), "g", b.Column(3))
		},
		terms: "outer",
	},
	{
		name: "maximum of linear predictors",
		loss: func(b *Builder) *Node {
			eta := b.MatMul(b.Columns(0, Dim{"k", 3}), b.Param("w", Shape{{"k", 3}, {"h", 4}}))
			return b.Square(b.MaxOver(eta))
		},
		terms: "outer",
	},
	{
		name: "maximum of parameters, with a tie",
		loss: func(b *Builder) *Node {
			w := b.Param("w", Shape{{"g", 4}, {"k", 3}})
			twice := b.MaxOver(b.Stack(Dim{"j", 2}, w, b.Neg(b.Neg(w))), "j", "k")
			return b.Mul(b.Column(0), b.Gather(twice, "g", b.Column(3)))
		},
		terms: "dense",
		notes: 1, // the gathered maxima
	},
	{
		name: "gather, then a product, of one parameter",
		loss: func(b *Builder) *Node {
			w := b.Param("w", Shape{{"g", 4}, {"k", 3}})
			first := b.Tanh(b.Sum(b.Gather(w, "g", b.Column(3))))
			h := b.Tanh(b.MatMul(w, b.Columns(0, Dim{"k", 3})))
			return b.Mul(b.Sum(h), first)
		},
		terms: "outer scatter",
		cross: 1,
	},
	{
		name: "one column of a gathered product",
		loss: func(b *Builder) *Node {
			r := b.MatMul(b.Param("z", Shape{{"g", 4}, {"p", 3}}), b.Param("m", Shape{{"p", 3}, {"k", 2}}))
			one := b.Gather(b.Slice(r, "k", 1), "g", b.Column(3))
			return b.Tanh(b.Mul(b.Column(0), one))
		},
		terms: "scatter outer",
	},
	{
		name: "a gathered block across rows of a product",
		loss: func(b *Builder) *Node {
			r := b.MatMul(b.Param("z", Shape{{"p", 4}, {"q", 3}}), b.Param("m", Shape{{"q", 3}, {"k", 3}}))
			blocks := b.Reshape(r, Shape{{"g", 2}, {"i", 6}}) // two rows of r each
			return b.Tanh(b.Sum(b.Square(b.Gather(blocks, "g", b.Less(b.Const(1.5), b.Column(3))))))
		},
		terms: "outer dense",
		notes: 1,
	},
	{
		name: "gather after a transposition that breaks rows",
		loss: func(b *Builder) *Node {
			w := b.Transpose(b.Param("w", Shape{{"p", 2}, {"q", 3}}))
			return b.Tanh(b.Sum(b.Square(b.Gather(b.Reshape(w, Shape{{"g", 2}, {"i", 3}}), "g", b.Less(b.Const(1.5), b.Column(3))))))
		},
		terms: "dense",
		notes: 1,
	},
	{
		name: "global branch on a gathered value",
		loss: func(b *Builder) *Node {
			z, c := b.Param("z", Shape{{"g", 4}}), b.Param("c", nil)
			r := b.Min(b.Max(z, b.Mul(b.Const(0.3), c)), b.Relu(b.Add(z, b.Const(0.2))))
			return b.Mul(b.Column(0), b.Gather(r, "g", b.Column(3)))
		},
		terms: "scatter dense",
	},
	{
		name: "a gathered block of a vector product",
		loss: func(b *Builder) *Node {
			r := b.MatMul(b.Param("z", Shape{{"p", 4}, {"q", 3}}), b.Param("m", Shape{{"q", 3}}))
			blocks := b.Reshape(r, Shape{{"g", 2}, {"i", 2}})
			return b.Tanh(b.Sum(b.Square(b.Gather(blocks, "g", b.Less(b.Const(1.5), b.Column(3))))))
		},
		terms: "outer dense",
		notes: 1,
	},
	{
		name: "irregular columns of a gathered matrix",
		loss: func(b *Builder) *Node {
			w := b.Param("w", Shape{{"g", 4}, {"k", 4}})
			var index []int32
			for g := range 4 {
				index = append(index, int32(4*g), int32(4*g+1), int32(4*g+3))
			}
			picked := b.Take(w, Shape{{"g", 4}, {"i", 3}}, index)
			return b.Tanh(b.Sum(b.Square(b.Gather(picked, "g", b.Column(3)))))
		},
		terms: "dense",
		notes: 1,
	},
	{
		name: "reversed rows of a gathered matrix",
		loss: func(b *Builder) *Node {
			w := b.Param("w", Shape{{"g", 4}})
			reversed := b.Take(w, Shape{{"g", 4}}, []int32{3, 2, 1, 0})
			return b.Tanh(b.Square(b.Gather(reversed, "g", b.Column(3))))
		},
		terms: "dense",
		notes: 1,
	},
	{
		name: "a scalar times a vector",
		loss: func(b *Builder) *Node {
			x := b.Take(b.Column(0), Shape{{"one", 1}}, []int32{0})
			return b.Sum(b.Tanh(b.MatMul(x, b.Param("w", Shape{{"one", 1}, {"h", 4}}))))
		},
		terms: "dense",
	},
	{
		name: "doubled branch",
		loss: func(b *Builder) *Node {
			p := b.Param("p", Shape{{"k", 3}})
			x := b.Columns(0, Dim{"k", 3})
			twice := b.Mul(b.Const(2), b.Sin(b.Mul(p, x)))
			return b.Sum(b.Where(b.Less(x, b.Const(0.2)), twice, b.Div(p, b.Const(4))))
		},
		terms: "dense",
	},
	{
		name: "masked gather",
		loss: func(b *Builder) *Node {
			z := b.Param("z", Shape{{"g", 4}})
			r := b.Where(b.Less(b.Const(0), z), b.Sqrt(z), b.Neg(b.Square(z)))
			return b.Mul(b.Column(0), b.Gather(r, "g", b.Column(3)))
		},
		terms: "scatter",
	},
}

func TestStructure(t *testing.T) {
	for _, test := range structures {
		t.Run(test.name, func(t *testing.T) {
			b := NewBuilder()
			loss := test.loss(b)
			theta, d := randomPoint(rand.New(rand.NewPCG(3, 4)), b.p, 3, 4, 7)
			tape := checkGradients(t, b, loss, theta, d)
			var kinds []string
			for _, x := range tape.Terms {
				kinds = append(kinds, x.Kind.String())
			}
			if got := strings.Join(kinds, " "); got != test.terms || len(tape.Cross) != test.cross || len(tape.Notes) != test.notes {
				t.Errorf("terms %q, %d pairs, %d notes; want %q, %d, %d\n%v",
					got, len(tape.Cross), len(tape.Notes), test.terms, test.cross, test.notes, tape)
			}
		})
	}
}

// TestStructuredSize: what a record keeps does not grow with the number of
// groups.
func TestStructuredSize(t *testing.T) {
	size := func(groups int) int {
		b := NewBuilder()
		g, k := Dim{"g", groups}, Dim{"k", 3}
		r := b.Mul(b.Exp(b.Param("logsd", Shape{k})), b.Param("z", Shape{g, k}))
		eta := b.MatMul(b.Columns(0, k), b.Gather(r, "g", b.Column(3)))
		tape, err := Compile(b, b.LogSigmoid(eta), nil, Options{GradientOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		return tape.recordSize()
	}
	if small, large := size(4), size(4000); small != large {
		t.Errorf("%d values per record with 4 groups, %d with 4000", small, large)
	}
}

// TestGatherOutOfRange: such a record's result and gradient are NaN, whether
// its scatter is a term or lanes; the others are untouched.
func TestGatherOutOfRange(t *testing.T) {
	for name, source := range map[string]func(b *Builder, w *Node) *Node{
		"term":  func(b *Builder, w *Node) *Node { return w },
		"lanes": func(b *Builder, w *Node) *Node { return b.Mul(w, b.Column(1)) },
	} {
		b := NewBuilder()
		x := source(b, b.Param("w", Shape{{"g", 3}}))
		tape, err := Compile(b, b.Square(b.Gather(x, "g", b.Column(0))), nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		index := []float64{2, 3, -1, math.NaN(), 0, math.Inf(1), 1.9, -0.5}
		var rows []float64
		for _, i := range index {
			rows = append(rows, i, 1)
		}
		m := NewMachine(tape, len(index))
		m.Globals([]float64{1, 2, 3}, nil)
		m.Records(rows, 2, len(index), nil)
		g := make([]float64, 3)
		for r, want := range []float64{9, 0, 0, 0, 1, 0, 4, 1} {
			m.Gradient(r, g)
			if want == 0 {
				if !math.IsNaN(m.Loss()[r]) || !math.IsNaN(g[0]+g[2]) || !math.IsNaN(m.SquaredNorm(r)) {
					t.Errorf("%s, index %v: loss %v, gradient %v, norm² %v", name, index[r], m.Loss()[r], g, m.SquaredNorm(r))
				}
				continue
			}
			if m.Loss()[r] != want || sum(g) != 2*math.Sqrt(want) || m.SquaredNorm(r) != 4*want {
				t.Errorf("%s, index %v: loss %v, gradient %v, norm² %v", name, index[r], m.Loss()[r], g, m.SquaredNorm(r))
			}
		}
	}
}
