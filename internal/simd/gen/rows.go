package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// ahead is how many rows before its use a row is fetched to the second-level
// cache. A row takes ten to twenty nanoseconds, memory many times that: on an
// Intel Xeon 64 rows ahead take a sixth less time than 16, and the first-level
// cache is no better a place for a table that is in memory.
const ahead = 64

// shifts are the logarithms of the sizes of numbers.
var shifts = map[int]uint64{4: 2, 8: 3}

// A table is a table of rows in registers: row index[at] starts at
// base + stride·index[at], stride in bytes, numbers of size bytes.
type table struct {
	size                int
	base, stride, index GPVirtual
}

// tableArguments loads the arguments table, stride and index.
func tableArguments(size int) table {
	t := table{size: size, base: base("table"), index: base("index")}
	t.stride = Load(Param("stride"), GP64()).(GPVirtual)
	SHLQ(Imm(shifts[size]), t.stride)
	return t
}

// row sets p to where the row of index[at+plus] starts.
func (t table) row(p, at GPVirtual, plus int) {
	MOVL(Mem{Base: t.index, Index: at, Scale: 4, Disp: 4 * plus}, p.As32())
	IMULQ(t.stride, p)
	ADDQ(t.base, p)
}

// load reads a vector; off is its offset in float64.
func (t table) load(i isa, p GPVirtual, off int) VecVirtual {
	if t.size == 4 {
		return i.loadSingle(Mem{Base: p, Disp: off / 2})
	}
	return i.load(Mem{Base: p, Disp: off})
}

func rowDots(i isa, size int) {
	TEXT(fmt.Sprintf("rowDots%d%s", 8*size, i.suffix()), NOSPLIT,
		fmt.Sprintf("func(dst, w []float64, table []float%d, stride int, index []uint32, fetch int)", 8*size))
	Doc("dst[b] = Σ_j w[j]·table[index[b]·stride+j] in the shape of dot;",
		"of the row 64 further on in index the first fetch bytes are prefetched.")
	dst, n := base("dst"), length("dst")
	w, d := base("w"), length("w")
	t := tableArguments(size)
	fetch := Load(Param("fetch"), GP64()).(GPVirtual)
	last := length("index")
	SUBQ(Imm(ahead), last)

	b, pw, j := GP64(), GP64(), GP64()
	p := []GPVirtual{GP64(), GP64()}
	// several computes that many products, which share the loads of w.
	several := func(rows int) {
		for r := range rows {
			t.fetch(b, r, last, p[r], fetch, j)
		}
		sums := make([][]VecVirtual, rows)
		for r := range rows {
			t.row(p[r], b, r)
			sums[r] = zeros(i)
		}
		MOVQ(w, pw)
		MOVQ(d, j)
		loop(i, j, func(v isa, off int) {
			x := v.load(Mem{Base: pw, Disp: off})
			for r := range rows {
				v.accumulate(sums[r][off/8/i.lanes()], t.load(v, p[r], off), x)
			}
		}, func() {
			for r := range rows {
				ADDQ(Imm(uint64(8*size)), p[r])
			}
			ADDQ(Imm(64), pw)
		})
		for r := range rows {
			VMOVSD(i.total(sums[r]), Mem{Base: dst, Index: b, Scale: 8, Disp: 8 * r})
		}
		ADDQ(Imm(uint64(rows)), b)
	}
	pair, one, done := label("pair"), label("one"), label("done")
	XORQ(b, b)
	DECQ(n)
	Label(pair)
	CMPQ(b, n)
	JGE(LabelRef(one))
	several(2)
	JMP(LabelRef(pair))
	Label(one)
	JG(LabelRef(done))
	several(1)
	Label(done)
	end()
}

// fetch prefetches the row that comes `ahead` rows after b+plus, if that is
// before last.
func (t table) fetch(b GPVirtual, plus int, last, p, bytes, left GPVirtual) {
	line, done := label("line"), label("done")
	LEAQ(Mem{Base: b, Disp: plus}, left)
	CMPQ(left, last)
	JGE(LabelRef(done))
	t.row(p, b, ahead+plus)
	MOVQ(bytes, left)
	TESTQ(left, left)
	JLE(LabelRef(done))
	Label(line)
	PREFETCHT1(Mem{Base: p})
	ADDQ(Imm(64), p)
	SUBQ(Imm(64), left)
	JG(LabelRef(line))
	Label(done)
}

// rowSum keeps as many sums as fit in registers and walks all rows for them.
func rowSum(i isa, size int) {
	TEXT(fmt.Sprintf("rowSum%d%s", 8*size, i.suffix()), NOSPLIT,
		fmt.Sprintf("func(sum, w []float64, table []float%d, stride int, index []uint32)", 8*size))
	Doc("sum[j] = fma(w[b], table[index[b]·stride+j], sum[j]) for each b in order")
	sum, d := base("sum"), length("sum")
	w, n := base("w"), length("w")
	t := tableArguments(size)
	r := rowSums{isa: i, t: t, sum: sum, w: w, n: n, b: GP64(), p: GP64()}
	done := label("done")
	TESTQ(n, n)
	JZ(LabelRef(done))
	for width := 8 * i.lanes(); width >= 8; width /= 2 {
		top, whole, narrower := label("columns"), label("whole"), label("narrower")
		Label(top)
		CMPQ(d, Imm(uint64(width)))
		JL(LabelRef(narrower))
		JE(LabelRef(whole))
		CMPQ(d, Imm(uint64(width+8)))
		JGE(LabelRef(whole))
		SUBQ(Imm(uint64(width)), d) // the last ones with these: alone they wait for each other
		v, offs := wholeVectors(i, width)
		_, rest := wholeVectors(i, 8)
		v = append(v, i.masked(d, len(rest))...)
		for _, off := range rest {
			offs = append(offs, 8*width+off)
		}
		r.add(v, offs)
		JMP(LabelRef(done))
		Label(whole)
		r.add(wholeVectors(i, width))
		ADDQ(U32(8*width), sum)
		ADDQ(U32(width*size), t.base)
		SUBQ(Imm(uint64(width)), d)
		JMP(LabelRef(top))
		Label(narrower)
	}
	TESTQ(d, d)
	JZ(LabelRef(done))
	_, offs := wholeVectors(i, 8)
	r.add(i.masked(d, len(offs)), offs)
	Label(done)
	end()
}

// rowSums adds rows to sums.
type rowSums struct {
	isa
	t               table
	sum, w, n, b, p GPVirtual
}

// add adds all rows to the sums at offsets offs.
func (r *rowSums) add(v []isa, offs []int) {
	var sums []VecVirtual
	for k, off := range offs {
		sums = append(sums, v[k].load(Mem{Base: r.sum, Disp: off}))
	}
	XORQ(r.b, r.b)
	next := label("row")
	Label(next)
	r.t.row(r.p, r.b, 0)
	weight := r.spread(Mem{Base: r.w, Index: r.b, Scale: 8})
	for k, off := range offs {
		r.accumulate(sums[k], weight, r.t.load(v[k], r.p, off))
	}
	INCQ(r.b)
	CMPQ(r.b, r.n)
	JLT(LabelRef(next))
	for k, off := range offs {
		v[k].store(sums[k], Mem{Base: r.sum, Disp: off})
	}
}

// wholeVectors are vectors of whole columns, and their offsets.
func wholeVectors(i isa, columns int) (v []isa, offs []int) {
	for k := 0; k < columns; k += i.lanes() {
		v, offs = append(v, i), append(offs, 8*k)
	}
	return v, offs
}
