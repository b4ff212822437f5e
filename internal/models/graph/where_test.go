package graph

import (
	"math"
	"testing"
)

// TestWhereIsSafe: the branch not taken may be infinite or NaN, in value and
// derivative, through every kind of operation.
func TestWhereIsSafe(t *testing.T) {
	for name, f := range map[string]func(b *Builder, p *Node) *Node{
		"log of zero":    func(b *Builder, p *Node) *Node { return b.Mul(p, b.Log(b.Column(0))) },
		"root of zero":   func(b *Builder, p *Node) *Node { return b.Sqrt(b.Mul(b.Square(p), b.Column(0))) },
		"zero over zero": func(b *Builder, p *Node) *Node { return b.Div(b.Mul(p, b.Column(0)), b.Column(0)) },
		"power":          func(b *Builder, p *Node) *Node { return b.Pow(b.Mul(p, b.Column(0)), b.Const(-1.5)) },
		"exp overflow":   func(b *Builder, p *Node) *Node { return b.Exp(b.Div(b.Exp(p), b.Column(0))) },
		"lgamma at pole": func(b *Builder, p *Node) *Node { return b.Lgamma(b.Mul(p, b.Column(0))) },
		"maximum":        func(b *Builder, p *Node) *Node { return b.Max(p, b.Log(b.Mul(p, b.Column(0)))) },
		"matrix product": func(b *Builder, p *Node) *Node {
			x := b.Log(b.Mul(b.Columns(0, Dim{"k", 2}), b.Const(1)))
			return b.MatMul(x, b.Param("w", Shape{{"k", 2}}))
		},
		"log-sum-exp": func(b *Builder, p *Node) *Node {
			return b.LogSumExp(b.Mul(p, b.Log(b.Columns(0, Dim{"k", 2}))))
		},
		"dead log-sum-exp": func(b *Builder, p *Node) *Node {
			l := b.Log(b.Mul(p, b.Column(0)))
			return b.LogSumExp(b.Stack(Dim{"k", 2}, l, l))
		},
		"nested": func(b *Builder, p *Node) *Node {
			return b.Where(b.Less(b.Column(1), b.Const(100)), b.Div(p, b.Column(0)), p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder()
			p := b.Param("p", nil)
			x := b.Column(0)
			loss := b.Where(b.Less(b.Const(0.5), x), f(b, p), b.Mul(p, b.Const(3)))
			tape, err := Compile(b, loss, nil, Options{})
			if err != nil {
				t.Fatal(err)
			}
			m := NewMachine(tape, 2)
			theta := []float64{0.7, 0.3, 0.4}[:tape.P]
			m.Globals(theta, nil)
			m.Records([]float64{0, 0, 1, 2}, 2, 2, nil)
			g := make([]float64, tape.P)
			m.Gradient(0, g)
			if want := append([]float64{3}, make([]float64, tape.P-1)...); m.Loss()[0] != 3*theta[0] || g[0] != want[0] || sum(g[1:]) != 0 {
				t.Errorf("not taken: loss %v, gradient %v\n%v", m.Loss()[0], g, tape)
			}
			m.Gradient(1, g)
			if s := sum(g); math.IsNaN(s) || math.IsInf(s, 0) {
				t.Errorf("taken: gradient %v", g)
			}
		})
	}
}

// TestWhereIsSafeBehindStructure: the adjoint of a branch not taken stays 0
// when the factor of an outer product that it meets is infinite.
func TestWhereIsSafeBehindStructure(t *testing.T) {
	b := NewBuilder()
	k, h := Dim{"k", 2}, Dim{"h", 3}
	scale := b.Expand(b.Aux("scale", Shape{k}, false), Shape{k, h})
	w := b.Mul(b.Param("w", Shape{k, h}), scale)
	tape, err := Compile(b, b.Where(b.Column(0), b.Sum(b.MatMul(b.Columns(0, k), w)), b.Const(0)), nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := NewMachine(tape, 1)
	m.Globals([]float64{1, 2, 3, 4, 5, 6}, []float64{math.Inf(-1), 1})
	m.Records([]float64{0, 7}, 2, 1, nil)
	g := make([]float64, 6)
	m.Gradient(0, g)
	if s := m.SquaredNorm(0); m.Loss()[0] != 0 || s != 0 || sum(g) != 0 {
		t.Errorf("loss %v, gradient %v, norm² %v\n%v", m.Loss()[0], g, s, tape)
	}
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}
