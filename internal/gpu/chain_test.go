//go:build linux && !nogpu

package gpu

import (
	"math"
	"testing"
	"unsafe"

	"d3p/internal/models/graph"
)

// Chains compute the bits of package graph where an operation is exact to the last bit, in
// strands and without, from constants, parameters, slots, memory and the number before, at even distances.
func TestChainsFollowMachine(t *testing.T) {
	d := graph.Shape{{Name: "d", Size: 5}}
	b := graph.NewBuilder()
	x, y, s := b.Param("x", d), b.Param("y", d), b.Param("s", nil)
	c := b.Consts(d, []float64{3, -1, 0.25, 7, 1e-3})
	u := b.Sub(c, x)
	v := b.Neg(b.Sub(b.Square(u), b.Mul(y, b.Sub(x, b.Const(2)))))
	w := b.Add(b.Square(b.Sqrt(b.Square(v))), b.Mul(s, b.Sub(u, v)))
	z := b.Sub(b.Neg(y), b.Mul(b.Neg(u), b.Reciprocal(w)))
	r := b.Sub(b.Take(x, d, []int32{4, 3, 2, 1, 0}), b.Mul(b.Take(y, d, []int32{2, 2, 2, 2, 2}), u)) // at even distances
	tape, err := graph.Compile(b, nil, []*graph.Node{u, v, b.Where(b.Less(x, y), w, z), z, b.Max(b.Sub(s, x), b.Add(y, s)), b.Mul(y, s), b.Neg(y), r}, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	parameters := []float64{0.5, math.Copysign(0, -1), 1, 3e200, 1e-300, 7, 0, -2, 1e-200, 5, -1.5}
	machine := graph.NewMachine(tape, 1)
	machine.Globals(parameters, nil)
	var want []float64
	for k := range tape.Outputs {
		want = append(want, machine.Output(k)...)
	}
	for _, abreast := range []int{1, 2, 4} {
		p, err := compileGlobal(tape, abreast, span{})
		if err != nil {
			t.Fatal(err)
		}
		if n := inSequence(p.global); (n < len(p.global)) != (abreast == 1) {
			t.Errorf("%d of %d instructions in sequence", n, len(p.global))
		}
		d := newOneThread(t, 1<<30)
		m := memory{driver: d, limit: 1 << 30}
		args := new(arguments)
		if err := p.send(&m, args); err != nil {
			t.Fatal(err)
		}
		if args.parameters, err = store(&m, parameters); err != nil {
			t.Fatal(err)
		}
		if err := d.launch(globalsKernel, 1, unsafe.Pointer(args)); err != nil {
			t.Fatal(err)
		}
		got := make([]float64, len(want))
		if err := read(d, unsafe.Pointer(&got[0]), args.globals, int64(8*len(got))); err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
		if err := m.releaseAll(); err != nil {
			t.Fatal(err)
		}
	}
}
