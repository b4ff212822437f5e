//go:build linux && !nogpu

package gpu

import (
	"testing"

	"d3p/internal/models/graph"
)

// Threads keep the numbers that only their chain reads; other numbers are in memory.
func TestChains(t *testing.T) {
	d := graph.Dim{Name: "d", Size: 6}
	b := graph.NewBuilder()
	x := b.Param("x", graph.Shape{d})
	y := b.Exp(x)
	z := b.Tanh(y)                           // read by the sum
	u := b.Mul(b.Add(y, z), b.Sum(z))        // after a barrier
	v := b.Square(b.Sub(b.Exp(b.Neg(u)), x)) // an output
	w := b.Mul(b.Sqrt(v), x)                 // an output
	tape, err := graph.Compile(b, nil, []*graph.Node{v, w}, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := compileGlobal(tape, 1, span{})
	if err != nil {
		t.Fatal(err)
	}
	kept := map[graph.Op]bool{graph.OpTanh: false, graph.OpNeg: true, graph.OpSquare: false, graph.OpSqrt: true}
	links := 0
	for i := range p.global {
		in := &p.global[i]
		links += int(in.chain)
		for op, want := range kept {
			if int32(op) == in.op && (in.dst < 0) != want {
				t.Errorf("%v is kept: %v, want %v", op, !want, want)
			}
			if op == graph.OpNeg && int32(op) == in.op && in.dst != nowhere {
				t.Errorf("%v goes to slot %d, and only the next instruction reads it", op, ^in.dst)
			}
		}
	}
	if links != len(p.global)-1 {
		t.Errorf("%d of %d instructions are in chains, want all but the sum", links, len(p.global))
	}
}

// Slots are used again, and where there are too few numbers go to memory.
func TestSlots(t *testing.T) {
	for _, c := range []struct{ width, want int }{{2, 3}, {mostSlots + 2, mostSlots}} {
		d := graph.Dim{Name: "d", Size: 3}
		b := graph.NewBuilder()
		x := b.Param("x", graph.Shape{d})
		sum, product := b.Const(0), b.Const(1)
		var parts []*graph.Node
		for i := range c.width {
			parts = append(parts, b.Add(b.Const(float64(i+2)), x))
			sum = b.Add(sum, parts[i])
		}
		for _, y := range parts { // all of them are needed again
			product = b.Mul(product, b.Sub(y, sum))
		}
		tape, err := graph.Compile(b, nil, []*graph.Node{product}, graph.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := compileGlobal(tape, 1, span{})
		if err != nil {
			t.Fatal(err)
		}
		most := int32(0)
		for i := range p.global {
			if p.global[i].dst != nowhere {
				most = max(most, -p.global[i].dst)
			}
		}
		if int(most) > mostSlots || int(most) < c.want {
			t.Errorf("%d numbers: %d slots, want %d", c.width, most, c.want)
		}
	}
}
