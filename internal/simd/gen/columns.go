package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// columns takes eight rows at a time and all columns of them.
func columns(i isa, size int) {
	TEXT(fmt.Sprintf("columns%d%s", 8*size, i.suffix()), NOSPLIT,
		fmt.Sprintf("func(dst []float64, count int, table []float%d, stride int, index []uint32)", 8*size))
	Doc("dst[i·n+b] = table[index[b]·stride+i] for i < count; the length n of index is a multiple of eight")
	dst, count := base("dst"), Load(Param("count"), GP64()).(GPVirtual)
	table, index, n := base("table"), base("index"), length("index")
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
		x := fetch(i, size, p, v)
		i.store(x, Mem{Base: to, Disp: 8 * k * i.lanes()})
	}
	ADDQ(Imm(uint64(size)), p)
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

// rowStarts multiplies indices by a stride.
func rowStarts(i isa, index Mem, stride VecVirtual) VecVirtual {
	v := i.zero()
	VPMOVZXDQ(index, v)
	VPMULUDQ(stride, v, v)
	return v
}

// fetch loads the numbers of a table, of 4 or 8 bytes, that index picks.
func fetch(i isa, size int, table Register, index VecVirtual) VecVirtual {
	at := Mem{Base: table, Index: index, Scale: uint8(size)}
	if i.suffix() == "AVX2" {
		v, all := YMM(), YMM()
		VPCMPEQQ(all, all, all)
		if size == 8 {
			VGATHERQPD(all, at, v)
			return v
		}
		half := XMM()
		VGATHERQPS(all.AsX(), at, half)
		VCVTPS2PD(half, v)
		return v
	}
	v, all := ZMM(), K()
	KXNORB(all, all, all)
	if size == 8 {
		VGATHERQPD(at, all, v)
		return v
	}
	half := YMM()
	VGATHERQPS(at, all, half)
	VCVTPS2PD(half, v)
	return v
}
