package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// columns64 takes eight rows at a time and all their columns, number by number.
func columns64(i isa) {
	columnsText(i, 64)
	dst, count := base("dst"), Load(Param("count"), GP64()).(GPVirtual)
	table, index, n := base("table"), base("index"), Load(Param("n"), GP64()).(GPVirtual)
	stride := scalar(i, "stride")
	pitch := GP64()
	MOVQ(n, pitch)
	SHLQ(Imm(3), pitch)

	rows, column, done := label("rows"), label("column"), label("done")
	p, to, left := GP64(), GP64(), GP64()
	Label(rows)
	TESTQ(n, n)
	JZ(LabelRef(done))
	var at []VecVirtual
	for k := 0; k < 8; k += i.lanes() {
		at = append(at, rowStarts(i, Mem{Base: index, Disp: 4 * k}, stride))
	}
	MOVQ(table, p)
	MOVQ(dst, to)
	MOVQ(count, left)
	Label(column)
	for k, v := range at {
		i.store(fetch(i, p, v), Mem{Base: to, Disp: 8 * k * i.lanes()})
	}
	ADDQ(Imm(8), p)
	ADDQ(pitch, to)
	DECQ(left)
	JNZ(LabelRef(column))
	ADDQ(Imm(64), dst)
	ADDQ(Imm(32), index)
	SUBQ(Imm(8), n)
	JMP(LabelRef(rows))
	Label(done)
	end()
}

// columnsText begins columns.
func columnsText(i isa, bits int) {
	TEXT(fmt.Sprintf("columns%d%s", bits, i.suffix()), NOSPLIT,
		fmt.Sprintf("func(dst []float64, n, count int, table []float%d, stride int, index []uint32, fetch int)", bits))
	Doc("dst[i·n+b] = table[index[b]·stride+i] for i < count and b < n, a multiple of eight;",
		"of the row 64 further on in index the first fetch bytes are prefetched.")
}

// rowStarts multiplies indices by a stride.
func rowStarts(i isa, index Mem, stride VecVirtual) VecVirtual {
	v := i.zero()
	VPMOVZXDQ(index, v)
	VPMULUDQ(stride, v, v)
	return v
}

// fetch loads the numbers of a table that index picks.
func fetch(i isa, table Register, index VecVirtual) VecVirtual {
	at := Mem{Base: table, Index: index, Scale: 8}
	if i.suffix() == "AVX2" {
		v, all := YMM(), YMM()
		VPCMPEQQ(all, all, all)
		VGATHERQPD(all, at, v)
		return v
	}
	v, all := ZMM(), K()
	KXNORB(all, all, all)
	VGATHERQPD(at, all, v)
	return v
}

// columns32 takes eight rows at a time and of them squares of four columns, whose
// halves are rows 0 to 3 and 4 to 7: three times as fast as number by number.
func columns32(i isa) {
	columnsText(i, 32)
	dst, index, n, pitch := base("dst"), base("index"), Load(Param("n"), GP64()).(GPVirtual), GP64()
	MOVQ(n, pitch)
	SHLQ(Imm(3), pitch)
	rows := eightRows{index: index, table: argument(Param("table").Base()), stride: argument(Param("stride"))}
	mask, rest, words := XMM(), GP64(), GP64()
	Load(Param("count"), rest)
	ANDQ(Imm(3), rest)
	NEGQ(rest)
	LEAQ(tailMask(4, 4).Offset(16), words)
	VMOVUPS(Mem{Base: words, Index: rest, Scale: 4}, mask)

	top, column, some, next, done := label("rows"), label("column"), label("some"), label("next"), label("done")
	to, left := GP64(), GP64()
	for r := range rows.at {
		rows.at[r] = GP64()
	}
	Label(top)
	TESTQ(n, n)
	JZ(LabelRef(done))
	rows.prefetch(to, left)
	rows.start(0)
	MOVQ(dst, to)
	Load(Param("count"), left)
	Label(column)
	SUBQ(Imm(4), left)
	JL(LabelRef(some))
	for _, v := range fourColumns(rows.pair) {
		storeWidened(i, v, to)
		ADDQ(pitch, to)
	}
	for _, p := range rows.at {
		ADDQ(Imm(16), p)
	}
	JMP(LabelRef(column))
	Label(some)
	ADDQ(Imm(4), left)
	JZ(LabelRef(next))
	for _, v := range fourColumns(func(r int) VecVirtual {
		pair, high := YMM(), XMM()
		VMASKMOVPS(Mem{Base: rows.at[r]}, mask, pair.AsX())
		VMASKMOVPS(Mem{Base: rows.at[r+4]}, mask, high)
		VINSERTF128(U8(1), high, pair, pair)
		return pair
	})[:3] {
		storeWidened(i, v, to)
		ADDQ(pitch, to)
		DECQ(left)
		JZ(LabelRef(next))
	}
	Label(next)
	ADDQ(Imm(64), dst)
	ADDQ(Imm(32), index)
	SUBQ(Imm(8), n)
	JMP(LabelRef(top))
	Label(done)
	end()
}

// eightRows are places in eight rows of a table of float32.
type eightRows struct {
	at            [8]GPVirtual
	index         Register
	table, stride Mem
}

// start moves the places to the rows of the indices from first on.
func (e *eightRows) start(first int) {
	for r, p := range e.at {
		MOVL(Mem{Base: e.index, Disp: 4 * (first + r)}, p.As32())
		IMULQ(e.stride, p)
		SHLQ(Imm(2), p)
		ADDQ(e.table, p)
	}
}

// prefetch prefetches rows further on in index. It overwrites bound, the end of what can be
// fetched, and left, its bytes.
func (e *eightRows) prefetch(bound, left GPVirtual) {
	near, line := label("near"), label("line")
	Load(Param("fetch"), left)
	TESTQ(left, left)
	JZ(LabelRef(near))
	MOVQ(argument(Param("index").Len()), bound)
	SHLQ(Imm(2), bound)
	ADDQ(argument(Param("index").Base()), bound)
	SUBQ(U32(4*(ahead+8)), bound)
	CMPQ(e.index, bound)
	JG(LabelRef(near))
	e.start(ahead)
	Label(line)
	for _, p := range e.at {
		PREFETCHT1(Mem{Base: p})
		ADDQ(Imm(64), p)
	}
	SUBQ(Imm(64), left)
	JG(LabelRef(line))
	Label(near)
}

// pair loads four numbers of rows r and r+4.
func (e *eightRows) pair(r int) VecVirtual {
	pair := YMM()
	VMOVUPS(Mem{Base: e.at[r]}, pair.AsX())
	VINSERTF128(U8(1), Mem{Base: e.at[r+4]}, pair, pair)
	return pair
}

// fourColumns are those of eight rows, four numbers of rows r and r+4 each.
func fourColumns(pair func(r int) VecVirtual) []VecVirtual {
	y := [4]VecVirtual{pair(0), pair(1), pair(2), pair(3)}
	out := make([]VecVirtual, 4)
	for k, unpack := range []func(...Op){VUNPCKLPS, VUNPCKHPS} {
		a, b := YMM(), YMM()
		unpack(y[1], y[0], a)
		unpack(y[3], y[2], b)
		out[2*k], out[2*k+1] = YMM(), YMM()
		VUNPCKLPD(b, a, out[2*k])
		VUNPCKHPD(b, a, out[2*k+1])
	}
	return out
}

// storeWidened stores eight numbers as float64.
func storeWidened(i isa, v VecVirtual, to GPVirtual) {
	if i.suffix() == "AVX2" {
		high := XMM()
		VEXTRACTF128(U8(1), v, high)
		for k, half := range []Register{v.AsX(), high} {
			wide := YMM()
			VCVTPS2PD(half, wide)
			VMOVUPD(wide, Mem{Base: to, Disp: 32 * k})
		}
		return
	}
	wide := ZMM()
	VCVTPS2PD(v, wide)
	VMOVUPD(wide, Mem{Base: to})
}

// argument is where an argument is in memory.
func argument(c gotypes.Component) Mem {
	basic, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return basic.Addr
}

// unpack copies numbers of bits 8 or 32 from rows to float32: eight at a time, then four,
// and the rest one by one.
func unpack(i isa, bits int) {
	TEXT(fmt.Sprintf("unpack%d%s", bits, i.suffix()), NOSPLIT,
		"func(dst []float32, pitch, n, count int, table []float32, stride, at int, index []uint32, fetch int)")
	Doc("dst[b·pitch+j] is number j, for j < count, of those that start at byte `at` of the row index[b];",
		"of the row 64 further on in index the first fetch bytes are prefetched.")
	dst, n := base("dst"), Load(Param("n"), GP64())
	pitch := Load(Param("pitch"), GP64())
	SHLQ(Imm(2), pitch)
	t := tableArguments(4)
	at, fetch := Load(Param("at"), GP64()), argument(Param("fetch"))
	last := length("index")
	SUBQ(Imm(ahead), last)

	b, from, to, left := GP64(), GP64(), GP64(), GP64()
	row, done := label("row"), label("done")
	XORQ(b, b)
	Label(row)
	CMPQ(b, n)
	JGE(LabelRef(done))
	bytes := GP64()
	MOVQ(fetch, bytes)
	t.fetch(b, 0, last, from, bytes, left)
	t.row(from, b, 0)
	ADDQ(at, from)
	MOVQ(dst, to)
	Load(Param("count"), left)
	step := func(numbers int, move func()) {
		next, less := label("some"), label("less")
		Label(next)
		CMPQ(left, Imm(uint64(numbers)))
		JLT(LabelRef(less))
		move()
		ADDQ(Imm(uint64(numbers*bits/8)), from)
		ADDQ(Imm(uint64(numbers*4)), to)
		SUBQ(Imm(uint64(numbers)), left)
		JMP(LabelRef(next))
		Label(less)
	}
	step(8, func() { unpackVector(bits, YMM(), from, to) })
	step(4, func() { unpackVector(bits, XMM(), from, to) })
	step(1, func() { unpackOne(bits, from, to) })
	ADDQ(pitch, dst)
	INCQ(b)
	JMP(LabelRef(row))
	Label(done)
	end()
}

// unpackVector copies as many numbers as v has room for.
func unpackVector(bits int, v VecVirtual, from, to Register) {
	if bits == 8 {
		VPMOVZXBD(Mem{Base: from}, v)
		VCVTDQ2PS(v, v)
	} else {
		VMOVUPS(Mem{Base: from}, v)
	}
	VMOVUPS(v, Mem{Base: to})
}

// unpackOne copies one number.
func unpackOne(bits int, from, to Register) {
	x, v := GP32(), XMM()
	if bits == 8 {
		MOVBLZX(Mem{Base: from}, x)
		VXORPS(v, v, v)
		VCVTSI2SSL(x, v, v)
		VMOVSS(v, Mem{Base: to})
	} else {
		MOVL(Mem{Base: from}, x)
		MOVL(x, Mem{Base: to})
	}
}
