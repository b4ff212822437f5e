package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// scaledTranspose takes as many lanes as a register has at a time, and of them squares of
// numbers: as many elements.
func scaledTranspose(i isa) {
	TEXT("scaledTranspose"+i.suffix(), NOSPLIT, "func(dst []float64, stride int, x []float64, step, count int, factor []float64)")
	Doc("dst[b·stride+j] = x[j·step+b]·factor[b] for j < count; the length of factor is a multiple of eight")
	side := i.lanes()
	dst, x, factor, lanes := base("dst"), base("x"), base("factor"), length("factor")
	to, from := newStrided(base("dst"), side, bytes("stride", i)), newStrided(base("x"), side, bytes("step", i))
	left := GP64()

	top, square, rest, one, next, done := label("lanes"), label("square"), label("rest"), label("one"), label("next"), label("done")
	Label(top)
	SUBQ(Imm(uint64(side)), lanes)
	JL(LabelRef(done))
	f := i.load(Mem{Base: factor})
	Load(Param("count"), left)
	Label(square)
	SUBQ(Imm(uint64(side)), left)
	JL(LabelRef(rest))
	var v []VecVirtual
	for row := range side {
		v = append(v, i.mul(i.load(from.at(row)), f))
	}
	for row, turned := range i.transposed(v) {
		i.store(turned, to.at(row))
	}
	from.advance(side)
	to.add(8 * side)
	JMP(LabelRef(square))
	Label(rest)
	ADDQ(Imm(uint64(side)), left)
	Label(one)
	DECQ(left)
	JL(LabelRef(next))
	i.scatter(i.mul(i.load(from.at(0)), f), to.at)
	from.advance(1)
	to.add(8)
	JMP(LabelRef(one))
	Label(next)
	ADDQ(Imm(uint64(8*side)), x)
	from.start(x)
	LEAQ(Mem{Base: dst, Index: to.strides[1], Scale: uint8(side)}, dst)
	to.start(dst)
	ADDQ(Imm(uint64(8*side)), factor)
	JMP(LabelRef(top))
	Label(done)
	end()
}

// laneProducts emits the products of side × side pairs of numbers, summed over a count,
// in eight lanes. AVX2 has registers for half of the rows and of the lanes at a time.
func laneProducts(i isa, side int) {
	TEXT(fmt.Sprintf("laneProducts%d%s", side, i.suffix()), NOSPLIT,
		"func(dst, x, y []float64, place, xStep, yStep, count int)")
	Doc(fmt.Sprintf("dst[(%d·i+j)·8+b] = Σ x[k·xStep+i·place+b]·y[k·yStep+j·place+b] for i, j < %[1]d and b < 8, over k < count > 0", side))
	rows := side
	if i.lanes() < 8 {
		rows = (side + 1) / 2
	}
	dst, place := base("dst"), bytes("place", i)
	xStep, yStep := bytes("xStep", i), bytes("yStep", i)
	px, py, n := GP64(), GP64(), GP64()
	x, y := newStrided(px, rows, place), newStrided(py, side, place)
	for lane := 0; lane < 8; lane += i.lanes() {
		for row := 0; row < side; row += rows {
			Load(Param("x").Base(), px)
			Load(Param("y").Base(), py)
			Load(Param("count"), n)
			ADDQ(Imm(uint64(8*lane)), px)
			ADDQ(Imm(uint64(8*lane)), py)
			for range row {
				ADDQ(place, px)
			}
			sums := make([][]VecVirtual, rows)
			for r := range sums {
				for range side {
					sums[r] = append(sums[r], i.zero())
				}
			}
			top := label("k")
			Label(top)
			var a []VecVirtual
			for r := range rows {
				a = append(a, i.load(x.at(r)))
			}
			for j := range side {
				b := i.load(y.at(j))
				for r := range rows {
					i.accumulate(sums[r][j], a[r], b)
				}
			}
			ADDQ(xStep, px)
			ADDQ(yStep, py)
			DECQ(n)
			JNZ(LabelRef(top))
			for r := range sums {
				for j, sum := range sums[r] {
					i.store(sum, Mem{Base: dst, Disp: 8 * (8*((row+r)*side+j) + lane)})
				}
			}
		}
	}
	end()
}

// bytes loads an argument that counts numbers.
func bytes(arg string, i isa) GPVirtual {
	n := Load(Param(arg), GP64()).(GPVirtual)
	SHLQ(Imm(shifts[i.size()]), n)
	return n
}
