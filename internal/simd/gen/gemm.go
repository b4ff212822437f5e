package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// gemm emits the tiles of the matrix product: as many rows as leave registers
// for one row of B, two vectors wide.
func gemm(i isa) {
	whole, cut := []int{14, 8, 4, 2, 1}, []int{14, 8, 4, 2, 1}
	if i.suffix() == "AVX2" { // sixteen registers, two of them masks in a cut tile
		whole, cut = []int{6, 4, 2, 1}, []int{4, 2, 1}
	}
	for _, r := range whole {
		tile(i, r, false)
	}
	for _, r := range cut {
		tile(i, r, true)
	}
}

// tile adds A·B to r rows of C; A may have any strides, rows of B and C are
// contiguous. Each element is a chain of fused multiply-adds in order of k.
func tile(i isa, r int, cut bool) {
	bits := 8 * i.size()
	name := fmt.Sprintf("tile%dx%d", r, bits)
	if cut {
		name = fmt.Sprintf("cutTile%dx%d", r, bits)
	}
	TEXT(name+i.suffix(), NOSPLIT, fmt.Sprintf("func(c *float%d, ldc int, a *float%[1]d, rowStride, colStride int, b *float%[1]d, ldb, n, k int)", bits))
	Doc(fmt.Sprintf("C += A·B for %d rows and %d columns of C (of a cut tile: n, fewer); strides in elements.", r, 2*i.lanes()))
	stride := func(arg string) GPVirtual {
		s := Load(Param(arg), GP64()).(GPVirtual)
		SHLQ(Imm(shifts[i.size()]), s)
		return s
	}
	pb := Load(Param("b"), GP64()).(GPVirtual)
	v := []isa{i, i}
	if cut {
		v = i.masked(Load(Param("n"), GP64()).(GPVirtual), 2)
	}
	sums := make([][2]VecVirtual, r)
	pc, ldc := Load(Param("c"), GP64()), stride("ldc")
	each := func(do func(sum *VecVirtual, v isa, m Mem)) {
		p := GP64()
		MOVQ(pc, p)
		for row := range sums {
			for k := range 2 {
				do(&sums[row][k], v[k], Mem{Base: p, Disp: i.size() * k * i.lanes()})
			}
			if row < r-1 {
				ADDQ(ldc, p)
			}
		}
	}
	each(func(sum *VecVirtual, v isa, m Mem) { *sum = v.load(m) })

	a, colStride, ldb := newOperand(r, stride("rowStride")), stride("colStride"), stride("ldb")
	n := Load(Param("k"), GP64())
	top := label("k")
	Label(top)
	b := [2]VecVirtual{v[0].load(Mem{Base: pb}), v[1].load(Mem{Base: pb, Disp: i.size() * i.lanes()})}
	for row := range sums {
		x := i.spread(a.at(row))
		i.accumulate(sums[row][0], x, b[0])
		i.accumulate(sums[row][1], x, b[1])
	}
	for _, p := range a.bases {
		ADDQ(colStride, p)
	}
	ADDQ(ldb, pb)
	DECQ(n)
	JNZ(LabelRef(top))
	each(func(sum *VecVirtual, v isa, m Mem) { v.store(*sum, m) })
	end()
}

// An operandA addresses up to 14 rows from two pointers, to rows 0 and 5, and
// the multiples 1, 3 and 5 of the row stride.
type operandA struct {
	bases   []GPVirtual
	strides map[int]GPVirtual
}

func newOperand(rows int, stride GPVirtual) operandA {
	p := Load(Param("a"), GP64()).(GPVirtual)
	o := operandA{[]GPVirtual{p}, map[int]GPVirtual{1: stride}}
	if rows > 3 {
		o.strides[3] = GP64()
		LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, o.strides[3])
	}
	if rows > 5 {
		o.strides[5] = GP64()
		LEAQ(Mem{Base: stride, Index: stride, Scale: 4}, o.strides[5])
		p5 := GP64()
		LEAQ(Mem{Base: p, Index: o.strides[5], Scale: 1}, p5)
		o.bases = append(o.bases, p5)
	}
	return o
}

// at is the element of a row in the current column.
func (o operandA) at(row int) Mem {
	for k, base := range o.bases {
		if row == 5*k {
			return Mem{Base: base}
		}
		for _, multiple := range []int{1, 3, 5} {
			for _, scale := range []uint8{1, 2, 4, 8} {
				if s, ok := o.strides[multiple]; ok && row == 5*k+multiple*int(scale) {
					return Mem{Base: base, Index: s, Scale: scale}
				}
			}
		}
	}
	panic(fmt.Sprintf("no address for row %d", row))
}
