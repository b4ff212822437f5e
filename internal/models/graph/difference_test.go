package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"d3p/internal/models/difference"
)

// checker is what *testing.T and *rapid.T have in common.
type checker interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkGradients compiles loss and compares, for every record, the gradient
// with central differences of the loss, and the structured norm and sum with
// those of the materialised gradient.
func checkGradients(t checker, b *Builder, loss *Node, theta []float64, d difference.Batch) *Tape {
	t.Helper()
	tape, err := Compile(b, loss, nil, Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	if err := difference.Check(NewMachine(tape, d.N), theta, d); err != nil {
		t.Fatalf("%v\n%v", err, tape)
	}
	checkForm(t, tape)
	return tape
}

// TestEveryOpDifference ranges over the op table: every element-wise op with a
// derivative, with global, per-record and gathered arguments.
func TestEveryOpDifference(t *testing.T) {
	for op := OpAdd; op <= OpWhere; op++ {
		if op.Arity() == 0 {
			t.Errorf("op %d, after %v, has no row in ops", op, op-1)
			continue
		}
		if op.has(compiled) {
			continue
		}
		t.Run(op.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(op)))
			const G, D, n = 4, 3, 5
			g, k := Dim{"g", G}, Dim{"k", D}
			b := NewBuilder()
			u, v, s := b.Param("u", Shape{g, k}), b.Param("v", Shape{k}), b.Param("s", nil)
			X, group := b.Columns(0, k), b.Column(D)
			into := func(x *Node) *Node {
				if op.has(positive) {
					return b.Add(b.Softplus(x), b.Const(0.2))
				}
				return x
			}
			apply := func(args ...*Node) *Node {
				for i := range args {
					args[i] = into(args[i])
				}
				return b.Sum(b.elementwise(op, args[:op.Arity()]...))
			}
			global := apply(u, v, s)
			record := apply(b.Add(b.Mul(X, v), s), b.Mul(X, b.Mul(s, v)), b.Sub(X, v))
			gathered := b.Sum(b.Gather(b.elementwise(op, []*Node{into(u), into(v), into(s)}[:op.Arity()]...), "g", group))
			swapped := gathered
			if op.Arity() > 1 {
				swapped = b.Sum(b.Gather(b.elementwise(op, []*Node{into(s), into(u), into(v)}[:op.Arity()]...), "g", group))
			}
			theta, d := randomPoint(rng, b.p, D, G, n)
			for name, f := range map[string]*Node{"global": global, "record": record, "gathered": gathered, "swapped": swapped} {
				loss := b.Mul(b.Add(b.Const(1), b.Mul(b.Const(0.1), b.Column(0))), f)
				if name == "global" {
					loss = f // a prior
				}
				if _, constant := f.Value(); constant {
					continue
				}
				checkGradients(t, b, loss, theta, d)
			}
		})
	}
}

// randomPoint is θ and n records of D real columns and an index below G.
func randomPoint(rng *rand.Rand, P, D, G, n int) ([]float64, difference.Batch) {
	theta := make([]float64, P)
	for i := range theta {
		theta[i] = 2*rng.Float64() - 1
	}
	d := difference.Batch{Stride: D + 1, N: n}
	for range n {
		for range D {
			d.Rows = append(d.Rows, 2*rng.Float64()-1)
		}
		d.Rows = append(d.Rows, float64(rng.IntN(G)))
	}
	return theta, d
}

// TestRandomGraphs differentiates random graphs over global and per-record
// leaves. Values stay in a few units, so that the difference quotient is
// within 1e-6: its truncation error is about h²|f‴|/6 ≈ 1e-10|f‴|.
func TestRandomGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const G, D, n = 3, 2, 4
		b := NewBuilder()
		g, k := Dim{"g", G}, Dim{"k", D}
		group := b.Column(D)
		nodes := []*Node{
			b.Param("s", nil), b.Param("v", Shape{k}), b.Param("m", Shape{g, k}), b.Param("q", Shape{{"j", D}, k}),
			b.Column(0), b.Columns(0, k), b.Aux("eta", Shape{k}, true),
		}
		used := make([]bool, len(nodes))
		fresh := 0
		for range rapid.IntRange(1, 14).Draw(t, "ops") {
			i := rapid.IntRange(0, len(nodes)-1).Draw(t, "x")
			j := rapid.IntRange(0, len(nodes)-1).Draw(t, "y")
			x, y := nodes[i], nodes[j]
			var z *Node
			op := rapid.IntRange(0, 16).Draw(t, "op")
			switch op {
			case 0:
				z = b.Add(x, y)
			case 1:
				z = b.Tanh(b.Mul(x, y))
			case 2:
				z = b.Sub(x, y)
			case 3:
				z = b.Div(x, b.Add(b.Const(1), b.Softplus(y)))
			case 4:
				z = b.Exp(b.Tanh(x))
			case 5:
				z = b.LogSigmoid(x)
			case 6:
				z = b.Where(b.Less(b.Column(1), b.Const(0.1)), x, b.Tanh(y))
			case 7:
				if x.Shape().Index("g") < 0 {
					continue
				}
				z = b.Gather(x, "g", group)
			case 8:
				if len(x.Shape()) == 0 {
					continue
				}
				z = b.Mean(x, x.Shape()[len(x.Shape())-1].Name)
			case 9:
				if len(x.Shape()) == 0 {
					continue
				}
				z = b.LogSumExp(x, x.Shape()[0].Name)
			case 10:
				if len(x.Shape()) == 0 {
					continue
				}
				z = b.CumSum(b.Tanh(x), x.Shape()[0].Name)
			case 11:
				if len(x.Shape()) == 0 {
					continue
				}
				z = b.Softmax(x, x.Shape()[0].Name)
			case 12:
				if len(x.Shape()) != 2 {
					continue
				}
				z = b.Transpose(x)
			case 13:
				if len(x.Shape()) == 0 {
					continue
				}
				z = b.Slice(x, x.Shape()[0].Name, 1)
			case 14, 15:
				if len(x.Shape()) == 0 || len(y.Shape()) == 0 || x.Shape()[len(x.Shape())-1].Size != y.Shape()[0].Size {
					continue
				}
				// Fresh names keep the result's dimensions distinct.
				for _, d := range y.Shape() {
					fresh++
					y = b.Rename(y, d.Name, fmt.Sprint("d", fresh))
				}
				z = b.Tanh(b.MatMul(x, y))
			case 16:
				fresh++
				z = b.Stack(Dim{fmt.Sprint("d", fresh), 2}, x, b.Tanh(x))
			}
			if b.TakeErr() != nil || z.Size() > 200 { // sizes that do not fit
				continue
			}
			used[i] = true
			if op < 4 || op == 6 || op > 13 {
				used[j] = true
			}
			nodes, used = append(nodes, z), append(used, false)
		}
		loss := b.Const(0)
		for i, x := range nodes {
			if !used[i] {
				loss = b.Add(loss, b.Mean(b.Tanh(b.Mul(b.Const(1+float64(i)), b.Tanh(x)))))
			}
		}
		if err := b.Err(); err != nil {
			t.Fatalf("%v", err)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		theta, d := randomPoint(rng, b.p, D, G, n)
		for range D * n {
			d.Aux = append(d.Aux, rng.NormFloat64())
		}
		checkGradients(t, b, loss, theta, d)
	})
}
