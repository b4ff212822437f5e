package graph

import (
	"strings"
	"testing"
)

func TestHashConsing(t *testing.T) {
	b := NewBuilder()
	x := b.Param("x", Shape{{"k", 3}})
	y := b.Param("y", Shape{{"k", 3}})
	same := [][2]*Node{
		{b.Add(x, y), b.Add(y, x)},
		{b.Mul(x, x), b.Square(x)},
		{b.Const(2), b.Const(2)},
		{b.Sub(x, b.Neg(y)), b.Add(x, y)},
		{b.Param("x", Shape{{"k", 3}}), x},
		{b.Neg(b.Neg(x)), x},
		{b.Slice(b.Stack(Dim{"j", 2}, x, y), "k", 1), b.Slice(b.Stack(Dim{"j", 2}, x, y), "k", 1)},
		{b.Stack(Dim{"c", 2}, b.Column(4), b.Column(5)), b.Columns(4, Dim{"c", 2})},
		{b.Transpose(b.Transpose(b.Param("m", Shape{{"r", 2}, {"c", 3}}))), b.Param("m", Shape{{"r", 2}, {"c", 3}})},
		{b.Exp(b.Const(0)), b.Const(1)},
		{b.MatMul(b.Consts(Shape{{"r", 1}, {"c", 2}}, []float64{1, 2}), b.Consts(Shape{{"c", 2}}, []float64{3, 4})),
			b.Consts(Shape{{"r", 1}}, []float64{11})},
	}
	for i, p := range same {
		if p[0] != p[1] {
			t.Errorf("pair %d: equal expressions are two nodes: %v %v", i, p[0].Op(), p[1].Op())
		}
	}
	different := [][2]*Node{
		{b.Sub(x, y), b.Sub(y, x)},
		{b.Slice(x, "k", 0), b.Slice(x, "k", 1)},
		{b.Sum(x), b.Sum(y)},
		{b.Column(0), b.Column(1)},
		{b.Const(0), b.Const(1)},
		{b.Rename(x, "k", "j"), x},
		{b.Aux("e", nil, false), b.Aux("f", nil, true)},
	}
	for i, p := range different {
		if p[0] == p[1] {
			t.Errorf("pair %d: different expressions are one node: %v", i, p[0].Op())
		}
	}
	if err := b.Err(); err != nil {
		t.Error(err)
	}
}

func TestMisuse(t *testing.T) {
	k3, k4, m := Shape{{"k", 3}}, Shape{{"k", 4}}, Shape{{"k", 3}, {"j", 2}}
	for want, f := range map[string]func(b *Builder) *Node{
		"add: dimension k has size 3 in [k 3] but 4 in [k 4]": func(b *Builder) *Node {
			return b.Add(b.Param("x", k3), b.Param("y", k4))
		},
		"param x: declared twice, as [k 3] and as [k 4]": func(b *Builder) *Node {
			b.Param("x", k3)
			return b.Param("x", k4)
		},
		"@: [k 3, j 2] @ [k 3]: dimension j has size 2 but k has 3": func(b *Builder) *Node {
			return b.MatMul(b.Param("m", m), b.Param("x", k3))
		},
		"@: scalar @ [k 3]: both sides need a dimension": func(b *Builder) *Node {
			return b.MatMul(b.Const(1), b.Param("x", k3))
		},
		"@: [k 3, j 2] @ [j 2, k 3]: dimension k occurs twice in [k 3, k 3] (rename one of them)": func(b *Builder) *Node {
			return b.MatMul(b.Param("m", m), b.Transpose(b.Param("m", m)))
		},
		"sum: no dimension z in [k 3]": func(b *Builder) *Node { return b.Sum(b.Param("x", k3), "z") },
		"slice: index 3 is outside of dimension k, which has size 3": func(b *Builder) *Node {
			return b.Slice(b.Param("x", k3), "k", 3)
		},
		"gather: the index of dimension k depends on parameters": func(b *Builder) *Node {
			return b.Gather(b.Param("x", k3), "k", b.Param("i", nil))
		},
		"gather: index 7 is outside of dimension k, which has size 3": func(b *Builder) *Node {
			return b.Gather(b.Param("x", k3), "k", b.Const(7))
		},
		"reshape: [k 3, j 2] has 6 elements, [k 4] has 4": func(b *Builder) *Node {
			return b.Reshape(b.Param("m", m), k4)
		},
		"rename: dimension j occurs twice in [j 3, j 2] (rename one of them)": func(b *Builder) *Node {
			return b.Rename(b.Param("m", m), "k", "j")
		},
		"stack: 1 parts for dimension s, which has size 2": func(b *Builder) *Node {
			return b.Stack(Dim{"s", 2}, b.Const(1))
		},
		"transpose: [k 3] has 1 dimensions, want 2": func(b *Builder) *Node { return b.Transpose(b.Param("x", k3)) },
		"diag: [k 3, j 2] is not a square matrix":   func(b *Builder) *Node { return b.DiagPart(b.Param("m", m)) },
		"diag: [k 3, j 2] is not a vector":          func(b *Builder) *Node { return b.Diag(b.Param("m", m), "l") },
		"take: index 3 is outside of [k 3]": func(b *Builder) *Node {
			return b.Take(b.Param("x", k3), Shape{{"i", 1}}, []int32{3})
		},
		"place: index 4 is outside of [k 4]": func(b *Builder) *Node {
			return b.Place(b.Param("x", k3), k4, []int32{0, 1, 4})
		},
		"permute: 1 dimensions named of [k 3, j 2]": func(b *Builder) *Node { return b.Permute(b.Param("m", m), "k") },
		"slice: range 1 to 4 is outside of dimension k, which has size 3": func(b *Builder) *Node {
			return b.SliceRange(b.Param("x", k3), "k", 1, 4, "l")
		},
		"constant: 2 values for shape [k 3], want 3": func(b *Builder) *Node { return b.Consts(k3, []float64{1, 2}) },
		"column: index -1 is negative":               func(b *Builder) *Node { return b.Column(-1) },
		"aux e: declared twice, differently: as aux [k 3] and as [k 3]": func(b *Builder) *Node {
			b.Aux("e", k3, false)
			return b.Aux("e", k3, true)
		},
		"gather: the index [k 3] has the dimension that it picks from": func(b *Builder) *Node {
			return b.Gather(b.Param("x", k3), "k", b.Columns(0, k3[0]))
		},
		"columns: dimension k has size 0, want at least 1": func(b *Builder) *Node {
			return b.Columns(0, Dim{"k", 0})
		},
		"expand: [k 3] does not fit into [j 2]": func(b *Builder) *Node {
			return b.Expand(b.Param("x", k3), Shape{{"j", 2}})
		},
		"cumsum: no dimension z in [k 3]": func(b *Builder) *Node { return b.CumSum(b.Param("x", k3), "z") },
	} {
		b := NewBuilder()
		n := f(b)
		if !n.Bad() {
			t.Errorf("no bad node for %q", want)
		}
		// A node built from a bad node reports no second error.
		n = b.Sum(b.MatMul(b.Stack(Dim{"s", 1}, b.Exp(n)), b.Gather(n, "k", n)), "nowhere")
		if !n.Bad() {
			t.Errorf("a bad node became good")
		}
		err := b.TakeErr()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if b.Err() != nil {
			t.Errorf("TakeErr left %v", b.Err())
		}
	}
}

func TestStages(t *testing.T) {
	b := NewBuilder()
	p, c, k := b.Param("p", Shape{{"g", 4}}), b.Column(0), b.Const(3)
	for _, test := range []struct {
		n    *Node
		want Stage
	}{
		{p, StageGlobal}, {c, StageData}, {k, StageConst},
		{b.Add(k, k), StageConst},
		{b.Exp(p), StageGlobal},
		{b.Mul(c, k), StageData},
		{b.Mul(c, p), StageRecord},
		{b.Gather(p, "g", c), StageRecord},
		{b.Gather(b.Consts(Shape{{"g", 2}}, []float64{1, 5}), "g", c), StageData},
		{b.MatMul(p, b.Rename(p, "g", "h")), StageGlobal},
		{b.Aux("eta", nil, true), StageRecord},
		{b.Aux("eps", nil, false), StageGlobal},
		{b.Lgamma(c), StageData},
	} {
		if got := test.n.Stage(); got != test.want {
			t.Errorf("%v %v: stage %v, want %v", test.n.Op(), test.n.Shape(), got, test.want)
		}
	}
	if err := b.Err(); err != nil {
		t.Fatal(err)
	}
}
