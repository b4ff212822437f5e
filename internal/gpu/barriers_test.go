package gpu

import (
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy/enginetest"
)

// Threads wait where one needs or overwrites what another one computed, and
// nowhere else.
func TestBarriers(t *testing.T) {
	d := graph.Dim{Name: "d", Size: 6}
	for name, c := range map[string]struct {
		loss  func(b *graph.Builder, x *graph.Node) *graph.Node
		waits int
	}{
		"element by element": {func(b *graph.Builder, x *graph.Node) *graph.Node { return b.Exp(b.Tanh(b.Exp(x))) }, 0},
		"one sum":            {func(b *graph.Builder, x *graph.Node) *graph.Node { return b.Exp(b.Sum(b.Exp(x))) }, 1},
		"a number for all":   {func(b *graph.Builder, x *graph.Node) *graph.Node { return b.Mul(b.Exp(x), b.Exp(b.Slice(x, "d", 2))) }, 1},
		"another element": {func(b *graph.Builder, x *graph.Node) *graph.Node {
			return b.Tanh(b.Take(b.Exp(x), graph.Shape{d}, []int32{5, 4, 3, 2, 1, 0}))
		}, 1},
	} {
		b := graph.NewBuilder()
		tape, err := graph.Compile(b, nil, []*graph.Node{c.loss(b, b.Param("w", graph.Shape{d}))}, graph.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := compileGlobal(tape, 1)
		if err != nil {
			t.Fatal(err)
		}
		if n := waits(p.global); n != c.waits {
			t.Errorf("%s: %d barriers, want %d", name, n, c.waits)
		}
	}
}

// Of two instructions on one place of the lanes the second one waits, unless each
// thread finds there what is its own; parts of one buffer are of several puts.
func TestConflicts(t *testing.T) {
	read, write := access{at: 10, size: 4, inTurn: true}, access{at: 10, size: 4, writes: true, inTurn: true}
	from := func(a access, change func(*access)) access { change(&a); return a }
	anywhere := func(a *access) { a.inTurn = false }
	part := func(a *access) { a.inTurn, a.part = false, true }
	for name, c := range map[string]struct {
		x, y access
		want bool
	}{
		"reads":                  {from(read, anywhere), from(read, anywhere), false},
		"its own":                {read, write, false},
		"its own, again":         {write, write, false},
		"read out of turn":       {from(read, anywhere), write, true},
		"written out of turn":    {read, from(write, anywhere), true},
		"other place":            {from(read, anywhere), from(write, func(a *access) { a.at = 14 }), false},
		"place that begins here": {read, from(write, func(a *access) { a.at = 13 }), true},
		"place that ends here":   {from(write, func(a *access) { a.at, a.size = 8, 3 }), read, true},
		"two parts":              {from(write, part), from(write, part), false},
		"a part and all":         {from(write, part), write, true},
	} {
		if conflict(c.x, c.y) != c.want || conflict(c.y, c.x) != c.want {
			t.Errorf("%s: %v, want %v", name, !c.want, c.want)
		}
	}
}

// A step of the autoencoder waits about as often as it has layers to go through.
func TestBarriersOfAutoencoder(t *testing.T) {
	b := graph.NewBuilder()
	tape, err := graph.Compile(b, enginetest.Autoencoder(b), nil, graph.Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile(tape, wideProducts)
	if err != nil {
		t.Fatal(err)
	}
	if n := waits(p.record); n != 16 {
		t.Errorf("%d barriers within %d instructions, want 16", n, len(p.record))
	}
}

func waits(list []instr) (n int) {
	for i := range list {
		n += int(list[i].waits)
	}
	return n
}
