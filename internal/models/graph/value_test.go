package graph

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// An evaluated node has beside it the function that it means, written without
// the Builder: the value for record r at index k and j of its dimensions.
type evaluated struct {
	n *Node
	f func(r, k, j int) float64
}

// continuousUnary are the ops of one argument that do not magnify the last bit of a
// reassociated argument.
func continuousUnary() []Op {
	var list []Op
	for op := OpAdd; op <= OpWhere; op++ {
		if op.Arity() == 1 && !op.has(jumps) && op != OpCopy {
			list = append(list, op)
		}
	}
	return list
}

// TestValues builds random expressions and compares the compiled tape, after
// folding, simplifying, reassociating, hoisting and mapping, with the functions.
func TestValues(t *testing.T) {
	const K, J, n = 3, 2, 4
	dims := map[string]int{"k": K, "j": J}
	unary := continuousUnary()
	binary := []Op{OpAdd, OpSub, OpMul, OpDiv, OpMin, OpMax, OpPow, OpMulZero}
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		theta, d := randomPoint(rng, 1+K+K*J, 1+J, K, n)
		aux := []float64{rng.NormFloat64(), rng.NormFloat64()}
		column := func(r, c int) float64 { return d.Rows[r*d.Stride+c] }
		index := func(r int) int { return int(column(r, 1+J)) }
		b := NewBuilder()
		nodes := []evaluated{
			{b.Param("s", nil), func(r, k, j int) float64 { return theta[0] }},
			{b.Param("v", Shape{{"k", K}}), func(r, k, j int) float64 { return theta[1+k] }},
			{b.Param("m", Shape{{"k", K}, {"j", J}}), func(r, k, j int) float64 { return theta[1+K+k*J+j] }},
			{b.Column(0), func(r, k, j int) float64 { return column(r, 0) }},
			{b.Columns(1, Dim{"j", J}), func(r, k, j int) float64 { return column(r, 1+j) }},
			{b.Aux("a", Shape{{"j", J}}, false), func(r, k, j int) float64 { return aux[j] }},
		}
		for _, c := range []float64{-2, -1, 0, 0.5, 1, 2} {
			nodes = append(nodes, evaluated{b.Const(c), func(r, k, j int) float64 { return c }})
		}
		pick := func(name string) evaluated { return nodes[rapid.IntRange(0, len(nodes)-1).Draw(t, name)] }
		for range rapid.IntRange(1, 12).Draw(t, "ops") {
			x, y, z := pick("x"), pick("y"), pick("z")
			var e evaluated
			reduced := rapid.SampledFrom([]string{"k", "j"}).Draw(t, "dim")
			has := x.n.Shape().Index(reduced) >= 0
			each := func(f func(v float64), r, k, j int) {
				for i := range dims[reduced] {
					if reduced == "k" {
						f(x.f(r, i, j))
					} else {
						f(x.f(r, k, i))
					}
				}
			}
			switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
			case kind <= 1:
				op := rapid.SampledFrom(unary).Draw(t, "op")
				e = evaluated{b.elementwise(op, x.n), func(r, k, j int) float64 { return op.Eval(x.f(r, k, j), 0, 0) }}
			case kind <= 4:
				op := rapid.SampledFrom(binary).Draw(t, "op")
				e = evaluated{b.elementwise(op, x.n, y.n), func(r, k, j int) float64 { return op.Eval(x.f(r, k, j), y.f(r, k, j), 0) }}
			case kind == 5:
				c := b.Less(b.Column(0), b.Const(0.25))
				e = evaluated{b.Where(c, x.n, y.n), func(r, k, j int) float64 {
					return where(indicator(column(r, 0) < 0.25), x.f(r, k, j), y.f(r, k, j))
				}}
			case kind == 6 && has:
				e = evaluated{b.Sum(x.n, reduced), func(r, k, j int) float64 {
					s := 0.0
					each(func(v float64) { s += v }, r, k, j)
					return s
				}}
			case kind == 7 && has && reduced == "k":
				e = evaluated{b.Gather(x.n, "k", b.Column(1+J)), func(r, k, j int) float64 { return x.f(r, index(r), j) }}
			case kind == 7 && has:
				e = evaluated{b.Slice(x.n, "j", 1), func(r, k, j int) float64 { return x.f(r, k, 1) }}
			case kind == 9 && has && reduced == "k": // the upper triangle of a matrix of numbers
				c := &Combination{From: []int{2, 0, 1, 2, 1, 2}, Into: []int{2, 0, 0, 1, 1, 0}, Times: []float64{6, 1, 2, 5, 4, 3}}
				e = evaluated{b.Combine(x.n, "k", c), func(r, k, j int) float64 {
					row := [K][K]float64{{1, 2, 3}, {0, 4, 5}, {0, 0, 6}}[k]
					return row[0]*x.f(r, 0, j) + row[1]*x.f(r, 1, j) + row[2]*x.f(r, 2, j)
				}}
			case kind == 8 && has:
				e = evaluated{b.LogSumExp(x.n, reduced), func(r, k, j int) float64 {
					m, s := math.Inf(-1), 0.0
					each(func(v float64) { m = math.Max(m, v) }, r, k, j)
					each(func(v float64) { s += math.Exp(v - m) }, r, k, j)
					return m + math.Log(s)
				}}
			default:
				e = evaluated{b.Add(b.Mul(x.n, y.n), z.n), func(r, k, j int) float64 { return x.f(r, k, j)*y.f(r, k, j) + z.f(r, k, j) }}
			}
			if !tame(e, n, K, J) {
				continue
			}
			nodes = append(nodes, e)
		}
		if err := b.Err(); err != nil {
			t.Fatalf("%v", err)
		}
		var outputs []*Node
		for _, e := range nodes {
			outputs = append(outputs, e.n)
		}
		tape, err := Compile(b, nil, outputs, Options{})
		if err != nil {
			t.Fatalf("%v", err)
		}
		m := NewMachine(tape, n)
		m.Globals(theta, aux)
		m.Records(d.Rows, d.Stride, n, nil)
		for i, e := range nodes {
			got := m.Output(i)
			lanes := len(got) / e.n.Size()
			s := e.n.Shape()
			s.walk(func(at int, pos []int) {
				for r := range lanes {
					want := e.f(r, pos[0], pos[1])
					if !(math.Abs(got[at*lanes+r]-want) <= 1e-9*math.Max(1, math.Abs(want))) {
						t.Fatalf("node %d %v %v, element %d of record %d: %v, want %v\n%v", i, e.n.Op(), s, at, r, got[at*lanes+r], want, tape)
					}
				}
			}, coordinate(s, "k"), coordinate(s, "j"))
		}
	})
}

// coordinate is the layout whose position is the index of one dimension.
func coordinate(s Shape, name string) []int {
	st := make([]int, len(s))
	if i := s.Index(name); i >= 0 {
		st[i] = 1
	}
	return st
}

// tame reports whether the values are neither huge, which would magnify rounding,
// nor infinite or NaN, where 0·x = 0 is a difference on purpose.
func tame(e evaluated, n, K, J int) bool {
	for r := range n {
		for k := range K {
			for j := range J {
				if v := math.Abs(e.f(r, k, j)); !(v < 1e3) || v > 0 && v < 1e-3 {
					return false
				}
			}
		}
	}
	return true
}
