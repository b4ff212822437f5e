package gpu

import (
	"slices"
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
		p, err := compileGlobal(tape, 1, span{})
		if err != nil {
			t.Fatal(err)
		}
		if n := waits(p.global); n != c.waits {
			t.Errorf("%s: %d barriers, want %d", name, n, c.waits)
		}
	}
}

// The second of two instructions on one place of the lanes waits, unless each thread
// finds its own numbers there; several puts write parts of one buffer.
func TestConflicts(t *testing.T) {
	read, write := access{at: 10, size: 4, turn: inTurn}, access{at: 10, size: 4, writes: true, turn: inTurn}
	from := func(a access, change func(*access)) access { change(&a); return a }
	anywhere := func(a *access) { a.turn = anyTurn }
	tiles := func(a *access) { a.turn = turn{400, 50} }
	part := func(a *access) { a.turn, a.part = anyTurn, true }
	for name, c := range map[string]struct {
		x, y access
		want bool
	}{
		"reads":                  {from(read, anywhere), from(read, anywhere), false},
		"its own":                {read, write, false},
		"its own, again":         {write, write, false},
		"read out of turn":       {from(read, anywhere), write, true},
		"written out of turn":    {read, from(write, anywhere), true},
		"tiles":                  {from(read, tiles), from(write, tiles), false},
		"tiles and elements":     {from(read, tiles), write, true},
		"other tiles":            {from(read, tiles), from(write, func(a *access) { a.turn = turn{400, 784} }), true},
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

// A step of the autoencoder waits about as often as it has layers to go through,
// forth and back.
func TestBarriersOfAutoencoder(t *testing.T) {
	b := graph.NewBuilder()
	if p := compiled(t, b, enginetest.Autoencoder(b)); waits(p.record) != 6 {
		t.Errorf("%d barriers within %d instructions, want 6", waits(p.record), len(p.record))
	}
}

// Element-wise instructions after a product follow its tiles without a barrier, also
// where all layers have one size; instructions on products with other tiles wait.
func TestTilesAreFollowed(t *testing.T) {
	b := graph.NewBuilder()
	d, more := graph.Dim{Name: "d", Size: 48}, graph.Dim{Name: "more", Size: 32}
	layer := func(x *graph.Node, from graph.Dim, name string) *graph.Node {
		to := graph.Dim{Name: name, Size: 48}
		return b.Rename(b.MatMul(x, b.Param(name, graph.Shape{from, to})), name, "d")
	}
	x := b.Tanh(layer(b.Columns(0, d), d, "first"))
	x = b.Tanh(layer(x, d, "second"))
	x = b.Tanh(b.Add(layer(x, d, "third"), layer(b.Columns(48, more), more, "beside")))
	p := compiled(t, b, b.Sum(b.Square(x)))
	var products, chains, waiting []int32
	for i, c := range p.record {
		switch {
		case c.op == int32(graph.OpMatVec):
			products = append(products, c.cols)
		case i > 0 && p.record[i-1].op == int32(graph.OpMatVec):
			if chains = append(chains, c.cols); c.waits > 0 {
				waiting = append(waiting, c.cols)
			}
			if c.chain == 0 {
				t.Errorf("instruction %d is in no chain", i)
			}
		}
	}
	// forth, where two are one after the other, and back
	if want := []int32{48, 48, 48, 32, 48, 48}; !slices.Equal(products, want) {
		t.Fatalf("products of matrices with %d columns, want %d", products, want)
	}
	if want := []int32{48, 48, 0, 48, 48}; !slices.Equal(chains, want) || len(waiting) != 1 || waiting[0] != 0 {
		t.Errorf("chains follow tiles of matrices with %d columns, want %d; %d wait, want the third one", chains, want, waiting)
	}
	if n := waits(p.record); n != 5 {
		t.Errorf("%d barriers, want 5", n)
	}
}

func compiled(t *testing.T, b *graph.Builder, loss *graph.Node) *program {
	t.Helper()
	tape, err := graph.Compile(b, loss, nil, graph.Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile(tape, wideProducts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func waits(list []instr) (n int) {
	for i := range list {
		n += int(list[i].waits)
	}
	return n
}
