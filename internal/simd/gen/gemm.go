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
		tile(i, "tile", r, 2)
		tile(i, "slimTile", r, 1)
	}
	for _, r := range cut {
		tile(i, "cutTile", r, 2)
	}
}

// tile adds A·B to r rows and a number of vectors of columns of C; a cut or slim one has
// fewer columns than its vectors. A may have any strides, rows of B and C are contiguous.
// Each element is a chain of fused multiply-adds in order of k.
func tile(i isa, name string, r, vectors int) {
	bits := 8 * i.size()
	TEXT(fmt.Sprintf("%s%dx%d%s", name, r, bits, i.suffix()), NOSPLIT,
		fmt.Sprintf("func(c *float%d, ldc int, a *float%[1]d, rowStride, colStride int, b *float%[1]d, ldb, n, k int)", bits))
	Doc(fmt.Sprintf("C += A·B for %d rows and %d columns of C (of a cut or slim tile: n of them); strides in elements.", r, vectors*i.lanes()))
	pb := Load(Param("b"), GP64()).(GPVirtual)
	v := []isa{i, i}
	if name != "tile" {
		v = i.masked(Load(Param("n"), GP64()).(GPVirtual), 2)[:vectors]
	}
	sums := make([][2]VecVirtual, r)
	pc, ldc := Load(Param("c"), GP64()), bytes("ldc", i)
	each := func(do func(sum *VecVirtual, v isa, m Mem)) {
		p := GP64()
		MOVQ(pc, p)
		for row := range sums {
			for k := range v {
				do(&sums[row][k], v[k], Mem{Base: p, Disp: i.size() * k * i.lanes()})
			}
			if row < r-1 {
				ADDQ(ldc, p)
			}
		}
	}
	each(func(sum *VecVirtual, v isa, m Mem) { *sum = v.load(m) })

	a := newStrided(Load(Param("a"), GP64()).(GPVirtual), r, bytes("rowStride", i))
	colStride, ldb := bytes("colStride", i), bytes("ldb", i)
	n := Load(Param("k"), GP64())
	top := label("k")
	Label(top)
	for _, p := range a.bases {
		PREFETCHT0(Mem{Base: p, Index: colStride, Scale: 8})
	}
	var b []VecVirtual
	for k, v := range v {
		b = append(b, v.load(Mem{Base: pb, Disp: i.size() * k * i.lanes()}))
	}
	for row := range sums {
		x := i.spread(a.at(row))
		for k := range b {
			i.accumulate(sums[row][k], x, b[k])
		}
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
