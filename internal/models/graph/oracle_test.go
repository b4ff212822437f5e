package graph

import (
	"math/rand/v2"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Gorgonia is an independent second opinion on gradients: each density is
// written again with its operations and differentiated by its Grad. One graph
// is built for each record, because a second Grad on one graph is wrong, and
// not in parallel, because building two graphs at once is a data race.

// oracleCase is a density written twice. leaves are the shapes of its
// parameters; columns are 3 reals x, and y, an index below 4.
type oracleCase struct {
	name     string
	leaves   []Shape
	ours     func(b *Builder, p []*Node, x, y *Node) *Node
	gorgonia func(o *oracle, p []*G.Node, x *G.Node, y float64) *G.Node
}

// oracle is a Gorgonia graph; its methods fail the test on an error.
type oracle struct {
	t *testing.T
	g *G.ExprGraph
}

func (o *oracle) must(n *G.Node, err error) *G.Node {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
	return n
}

func (o *oracle) c(v float64) *G.Node       { return G.NewConstant(v) }
func (o *oracle) add(x, y *G.Node) *G.Node  { return o.must(G.Add(x, y)) }
func (o *oracle) sub(x, y *G.Node) *G.Node  { return o.must(G.Sub(x, y)) }
func (o *oracle) mul(x, y *G.Node) *G.Node  { return o.must(G.HadamardProd(x, y)) }
func (o *oracle) dot(x, y *G.Node) *G.Node  { return o.must(G.Mul(x, y)) }
func (o *oracle) exp(x *G.Node) *G.Node     { return o.must(G.Exp(x)) }
func (o *oracle) log(x *G.Node) *G.Node     { return o.must(G.Log(x)) }
func (o *oracle) tanh(x *G.Node) *G.Node    { return o.must(G.Tanh(x)) }
func (o *oracle) sigmoid(x *G.Node) *G.Node { return o.must(G.Sigmoid(x)) }
func (o *oracle) square(x *G.Node) *G.Node  { return o.must(G.Square(x)) }
func (o *oracle) sqrt(x *G.Node) *G.Node    { return o.must(G.Sqrt(x)) }
func (o *oracle) log1p(x *G.Node) *G.Node   { return o.must(G.Log1p(x)) }
func (o *oracle) sum(x *G.Node) *G.Node     { return o.must(G.Sum(x)) }
func (o *oracle) at(x *G.Node, i int) *G.Node {
	return o.must(G.Slice(x, G.S(i)))
}

var (
	dimK, dimH = Dim{"k", 3}, Dim{"h", 4}
	vecK, vecH = Shape{dimK}, Shape{dimH}
)

var oracleCases = []oracleCase{
	{
		"logistic regression", []Shape{nil, vecK},
		func(b *Builder, p []*Node, x, y *Node) *Node {
			return bernoulli(b, b.Less(b.Const(1.5), y), b.Add(p[0], b.MatMul(x, p[1])))
		},
		func(o *oracle, p []*G.Node, x *G.Node, y float64) *G.Node {
			l := o.add(p[0], o.dot(x, p[1]))
			return o.sub(o.mul(o.c(indicator(y > 1.5)), l), o.log1p(o.exp(l)))
		},
	},
	{
		"gaussian regression", []Shape{vecK, nil},
		func(b *Builder, p []*Node, x, y *Node) *Node {
			z := b.Div(b.Sub(y, b.MatMul(x, p[0])), b.Exp(p[1]))
			return b.Sub(b.Mul(b.Const(-0.5), b.Square(z)), p[1])
		},
		func(o *oracle, p []*G.Node, x *G.Node, y float64) *G.Node {
			z := o.mul(o.sub(o.c(y), o.dot(x, p[0])), o.exp(o.mul(o.c(-1), p[1])))
			return o.sub(o.mul(o.c(-0.5), o.square(z)), p[1])
		},
	},
	{
		"poisson regression", []Shape{vecK},
		func(b *Builder, p []*Node, x, y *Node) *Node {
			l := b.MatMul(x, p[0])
			return b.Sub(b.Sub(b.Mul(y, l), b.Exp(l)), b.Lgamma(b.Add(y, b.Const(1))))
		},
		func(o *oracle, p []*G.Node, x *G.Node, y float64) *G.Node {
			l := o.dot(x, p[0])
			return o.sub(o.mul(o.c(y), l), o.exp(l))
		},
	},
	{
		"student t", []Shape{vecK, nil},
		func(b *Builder, p []*Node, x, y *Node) *Node {
			z := b.Div(b.Sub(y, b.MatMul(x, p[0])), b.Exp(p[1]))
			return b.Sub(b.Mul(b.Const(-2.5), b.Log1p(b.Mul(b.Const(0.25), b.Square(z)))), p[1])
		},
		func(o *oracle, p []*G.Node, x *G.Node, y float64) *G.Node {
			z := o.mul(o.sub(o.c(y), o.dot(x, p[0])), o.exp(o.mul(o.c(-1), p[1])))
			return o.sub(o.mul(o.c(-2.5), o.log1p(o.mul(o.c(0.25), o.square(z)))), p[1])
		},
	},
	{
		"two-layer network", []Shape{{dimH, dimK}, vecH, vecH},
		func(b *Builder, p []*Node, x, y *Node) *Node {
			h := b.Tanh(b.Add(b.MatMul(p[0], x), p[1]))
			return b.Square(b.Sub(y, b.MatMul(p[2], h)))
		},
		func(o *oracle, p []*G.Node, x *G.Node, y float64) *G.Node {
			h := o.tanh(o.add(o.dot(p[0], x), p[1]))
			return o.square(o.sub(o.c(y), o.dot(p[2], h)))
		},
	},
	{
		"weights used twice", []Shape{{dimK, {"k2", 3}}},
		func(b *Builder, p []*Node, x, y *Node) *Node {
			h := b.Sigmoid(b.MatMul(p[0], x))
			return b.Sum(b.Square(b.MatMul(p[0], h)))
		},
		func(o *oracle, p []*G.Node, x *G.Node, y float64) *G.Node {
			h := o.sigmoid(o.dot(p[0], x))
			return o.sum(o.square(o.dot(p[0], h)))
		},
	},
	{
		"category by soft-max", []Shape{{dimH, dimK}},
		func(b *Builder, p []*Node, x, y *Node) *Node {
			return b.Gather(b.LogSoftmax(b.MatMul(p[0], x), "h"), "h", y)
		},
		func(o *oracle, p []*G.Node, x *G.Node, y float64) *G.Node {
			eta := o.dot(p[0], x)
			return o.sub(o.at(eta, int(y)), o.log(o.sum(o.exp(eta))))
		},
	},
	{
		"mixture of two", []Shape{nil, nil, nil, nil},
		func(b *Builder, p []*Node, x, y *Node) *Node {
			k := Dim{"c", 2}
			w := b.Stack(k, b.LogSigmoid(p[0]), b.LogSigmoid(b.Neg(p[0])))
			z := b.Mul(b.Sub(y, b.Stack(k, p[1], p[2])), b.Exp(b.Neg(p[3])))
			return b.LogSumExp(b.Sub(b.Sub(w, b.Mul(b.Const(0.5), b.Square(z))), p[3]), "c")
		},
		func(o *oracle, p []*G.Node, x *G.Node, y float64) *G.Node {
			component := func(loc *G.Node) *G.Node {
				z := o.mul(o.sub(o.c(y), loc), o.exp(o.mul(o.c(-1), p[3])))
				return o.exp(o.sub(o.mul(o.c(-0.5), o.square(z)), p[3]))
			}
			w := o.sigmoid(p[0])
			return o.log(o.add(o.mul(w, component(p[1])), o.mul(o.sub(o.c(1), w), component(p[2]))))
		},
	},
	{
		"non-centred effect of a group", []Shape{nil, vecH, nil},
		func(b *Builder, p []*Node, x, y *Node) *Node {
			r := b.Mul(b.Exp(p[0]), p[1])
			return b.Softplus(b.Add(p[2], b.Mul(b.Gather(r, "h", y), b.Slice(x, "k", 0))))
		},
		func(o *oracle, p []*G.Node, x *G.Node, y float64) *G.Node {
			z := o.at(p[1], int(y))
			return o.log1p(o.exp(o.add(p[2], o.mul(o.mul(o.exp(p[0]), z), o.at(x, 0)))))
		},
	},
	{
		"weights with one scale", []Shape{nil, {dimH, dimK}},
		func(b *Builder, p []*Node, x, y *Node) *Node {
			return b.Sum(b.Tanh(b.MatMul(b.Mul(b.Exp(p[0]), p[1]), x)))
		},
		func(o *oracle, p []*G.Node, x *G.Node, y float64) *G.Node {
			return o.sum(o.tanh(o.mul(o.exp(p[0]), o.dot(p[1], x))))
		},
	},
	{
		"roots and ratios", []Shape{vecK},
		func(b *Builder, p []*Node, x, y *Node) *Node {
			s := b.Sqrt(b.Add(b.Square(p[0]), b.Const(1)))
			return b.Sum(b.Div(b.Mul(x, p[0]), s))
		},
		func(o *oracle, p []*G.Node, x *G.Node, y float64) *G.Node {
			s := o.sqrt(o.add(o.square(p[0]), o.c(1)))
			return o.sum(o.must(G.HadamardDiv(o.mul(x, p[0]), s)))
		},
	},
}

func TestAgainstGorgonia(t *testing.T) {
	for _, c := range oracleCases {
		t.Run(c.name, func(t *testing.T) {
			b := NewBuilder()
			var p []*Node
			for i, s := range c.leaves {
				p = append(p, b.Param(string(rune('a'+i)), s))
			}
			tape, err := Compile(b, c.ours(b, p, b.Columns(0, dimK), b.Column(3)), nil, Options{})
			if err != nil {
				t.Fatal(err)
			}
			theta, d := randomPoint(rand.New(rand.NewPCG(5, 6)), b.p, 3, 4, 6)
			m := NewMachine(tape, d.N)
			m.Globals(theta, nil)
			m.Records(d.Rows, d.Stride, d.N, nil)
			got := make([]float64, tape.P)
			for r := range d.N {
				m.Gradient(r, got)
				row := d.Rows[r*d.Stride:][:d.Stride]
				closeTo(t, "gradient", got, c.oracleGradient(t, theta, row[:3], row[3]), 1e-12)
			}
		})
	}
}

func (c *oracleCase) oracleGradient(t *testing.T, theta, x []float64, y float64) []float64 {
	t.Helper()
	o := &oracle{t, G.NewGraph()}
	leaf := func(name string, s Shape, v []float64) *G.Node {
		if len(s) == 0 {
			return G.NewScalar(o.g, G.Float64, G.WithName(name), G.WithValue(v[0]))
		}
		var dims []int
		for _, d := range s {
			dims = append(dims, d.Size)
		}
		value := tensor.New(tensor.WithShape(dims...), tensor.WithBacking(append([]float64(nil), v...)))
		return G.NewTensor(o.g, G.Float64, len(dims), G.WithName(name), G.WithShape(dims...), G.WithValue(value))
	}
	var p []*G.Node
	first := 0
	for i, s := range c.leaves {
		p = append(p, leaf(string(rune('a'+i)), s, theta[first:first+s.Size()]))
		first += s.Size()
	}
	cost := c.gorgonia(o, p, leaf("x", vecK, x), y)
	grads, err := G.Grad(cost, p...)
	if err != nil {
		t.Fatal(err)
	}
	vm := G.NewTapeMachine(o.g)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	var out []float64
	for _, g := range grads {
		switch v := g.Value().Data().(type) {
		case float64:
			out = append(out, v)
		case []float64:
			out = append(out, v...)
		}
	}
	return out
}
