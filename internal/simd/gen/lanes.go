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
	side := i.lanes()
	TEXT("scaledTranspose"+i.suffix(), NOSPLIT, "func(dst []float64, stride int, x []float64, step, count int, factor []float64)")
	Doc(fmt.Sprintf("dst[b·stride+j] = x[j·step+b]·factor[b] for j < count; the length of factor is a multiple of %d", side))
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

// packLanes emits the copy of eight lanes of some elements to contiguous memory. It reads
// an element's places in sequence.
func packLanes(i isa) {
	TEXT("packLanes"+i.suffix(), NOSPLIT, "func(dst, x []float64, side, tiles, tall, place, step, count int)")
	Doc("dst[((j·tall+k)·side+i)·8+b] = x[k·step+(j·side+i)·place+b] for i < side, j < tiles, b < 8 and k < count; all of them are above 0")
	dst, row := base("dst"), base("x")
	place, step := bytes("place", i), bytes("step", i)
	argument := func(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }
	side, tiles, count := argument("side"), argument("tiles"), argument("count")
	tile := argument("tall") // bytes between the tiles of an element, less those of its places
	DECQ(tile)
	IMULQ(side, tile)
	SHLQ(Imm(6), tile)
	x, to, leftTiles, left := GP64(), GP64(), GP64(), GP64()
	element, one, next := label("element"), label("place"), label("tile")
	Label(element)
	MOVQ(row, x)
	MOVQ(dst, to)
	MOVQ(tiles, leftTiles)
	Label(next)
	MOVQ(side, left)
	Label(one)
	for lane := 0; lane < 8; lane += i.lanes() {
		i.store(i.load(Mem{Base: x, Disp: 8 * lane}), Mem{Base: to, Disp: 8 * lane})
	}
	ADDQ(place, x)
	ADDQ(Imm(64), to)
	DECQ(left)
	JNZ(LabelRef(one))
	ADDQ(tile, to)
	DECQ(leftTiles)
	JNZ(LabelRef(next))
	ADDQ(step, row)
	MOVQ(side, left)
	SHLQ(Imm(6), left)
	ADDQ(left, dst)
	DECQ(count)
	JNZ(LabelRef(element))
	end()
}

// laneProducts emits the products of side × side pairs of numbers, added over a count,
// in eight lanes. AVX2 has registers for half of the rows and of the lanes at a time.
func laneProducts(i isa, side int) {
	TEXT(fmt.Sprintf("laneProducts%d%s", side, i.suffix()), NOSPLIT, "func(dst, x, y []float64, count int)")
	Doc(fmt.Sprintf("dst[(%d·i+j)·8+b] += Σ x[(%[1]d·k+i)·8+b]·y[(%[1]d·k+j)·8+b] for i, j < %[1]d and b < 8, over k < count > 0", side))
	rows := side
	if i.lanes() < 8 {
		rows = (side + 1) / 2
	}
	dst, px, py, n := base("dst"), GP64(), GP64(), GP64()
	for lane := 0; lane < 8; lane += i.lanes() {
		for row := 0; row < side; row += rows {
			Load(Param("x").Base(), px)
			Load(Param("y").Base(), py)
			Load(Param("count"), n)
			at := func(r, j int) Mem { return Mem{Base: dst, Disp: 8 * (8*((row+r)*side+j) + lane)} }
			sums := make([][]VecVirtual, rows)
			for r := range sums {
				for j := range side {
					sums[r] = append(sums[r], i.load(at(r, j)))
				}
			}
			top := label("k")
			Label(top)
			var a []VecVirtual
			for r := range rows {
				a = append(a, i.load(Mem{Base: px, Disp: 8 * (8*(row+r) + lane)}))
			}
			for j := range side {
				b := i.load(Mem{Base: py, Disp: 8 * (8*j + lane)})
				for r := range rows {
					i.accumulate(sums[r][j], a[r], b)
				}
			}
			ADDQ(U32(uint32(64*side)), px)
			ADDQ(U32(uint32(64*side)), py)
			DECQ(n)
			JNZ(LabelRef(top))
			for r := range sums {
				for j, sum := range sums[r] {
					i.store(sum, at(r, j))
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
