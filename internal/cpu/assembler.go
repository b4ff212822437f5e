package cpu

import (
	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// item is one unit of execution: a program over lanes, an instruction of the tape with
// its own form, or a step without opcode.
type item struct {
	program *simd.Program
	instr   *instr
	step    *step
}

// assembler turns instructions into items. One call executes all items of a program.
type assembler struct {
	p      *program
	record bool // for the record stage, else for the global stage
	list   []item
	open   []simd.Instruction
}

// items ends the list and returns it.
func (a *assembler) items() []item {
	if len(a.open) > 0 {
		a.list = append(a.list, item{program: simd.NewProgram(a.open)})
		a.open = nil
	}
	return a.list
}

func (a *assembler) emit(in simd.Instruction) { a.open = append(a.open, in) }

// alone adds an item outside of programs.
func (a *assembler) alone(i item) { a.list = append(a.items(), i) }

// add adds an instruction of the tape.
func (a *assembler) add(in graph.Instr) {
	switch {
	case in.Op == graph.OpMatVec && a.record && in.Rows*in.Cols <= unrolled:
		a.matVec(in)
		return
	case in.Op == graph.OpOuter && a.record && in.Rows*in.Cols*in.Width <= unrolled:
		a.outer(in)
		return
	case in.Op == graph.OpGather && a.record:
		if !a.p.lane[in.A.Buf] && (in.Width == 1 || in.Cols*in.Width <= unrolled) {
			a.gather(in)
			return
		}
		a.block(in.B.Buf, in.Rows)
	case in.Op == graph.OpScatter && a.record:
		a.block(in.B.Buf, in.Rows)
	}
	steps := a.p.steps(&in, a.record)
	if steps == nil {
		if in.Op == graph.OpOuter && a.record {
			a.p.planOuter(&in)
		}
		alone := &instr{Instr: in, turned: -1, single: -1}
		if a.record {
			alone.single = a.p.single.weights(&in)
		}
		a.alone(item{instr: alone})
		return
	}
	for _, s := range steps {
		coded, ok := s.coded(a.p)
		if !ok && a.record {
			coded, ok = a.filled(s)
		}
		if ok {
			a.emit(coded)
		} else {
			a.alone(item{step: &s})
		}
	}
}

// room takes elements of the arena.
type room struct{ place, count int }

// filled is the instruction of a step with a vector-only opcode; its scalars are repeated
// in lanes.
func (a *assembler) filled(s step) (simd.Instruction, bool) {
	all, operands := s, []*source{&s.a, &s.b, &s.c}
	for k, o := range []*source{&all.a, &all.b, &all.c} {
		if o.scalar && !o.absent {
			*o = source{space: inLanes, at: k} // either operand will do
		}
	}
	if _, ok := all.coded(a.p); !ok {
		return simd.Instruction{}, false
	}
	for k, o := range operands {
		if !o.scalar || o.absent {
			continue
		}
		if spare := &a.p.spare[k]; spare.count < s.count {
			spare.place, spare.count = a.p.newElements(s.count), s.count
		}
		filled := source{space: inLanes, at: a.p.spare[k].place}
		a.emit(simd.Instruction{Op: simd.OpFill, Count: s.count, To: filled.place(), A: o.place()})
		*o = filled
	}
	return s.coded(a.p)
}

// unrolled is the largest number of elements of a matrix whose product with lanes is
// unrolled, one instruction per element. A larger one is a matrix product.
const unrolled = 32

// matVec unrolls a product with a small matrix. Each element of the result is a chain of
// fused multiply-adds in order of the columns.
func (a *assembler) matVec(in graph.Instr) {
	to, x := a.p.place[in.Dst], a.p.place[in.B.Buf]
	row, step := in.Cols, 1
	if in.Trans {
		row, step = 1, in.Rows
	}
	for r := range in.Rows {
		if in.Width == 1 && a.contiguous(in.A, r*row, step, in.Cols) {
			a.emit(simd.Instruction{
				Op: simd.OpCombine, Count: in.Cols, Groups: step, To: lanes(to + r), A: lanes(x), B: a.p.source(in.A, r*row, true).place(),
			})
			continue
		}
		for c := range in.Cols {
			op := simd.OpAxpy
			if c == 0 {
				op = simd.OpMulScalar
			}
			a.emit(simd.Instruction{
				Op: op, Count: in.Width, To: lanes(to + r*in.Width), A: lanes(x + c*in.Width),
				B: a.p.source(in.A, r*row+c*step, true).place(),
			})
		}
	}
}

// contiguous reports whether count elements of o that are step apart are also step apart in
// their space, as programs require.
func (a *assembler) contiguous(o graph.Operand, first, step, count int) bool {
	start := a.p.source(o, first, true)
	for k := 1; k < count; k++ {
		if e := a.p.source(o, first+k*step, true); e.at != start.at+k*step {
			return false
		}
	}
	return true
}

// outer unrolls products of elements; at least one of each pair has lanes.
func (a *assembler) outer(in graph.Instr) {
	to := a.p.place[in.Dst]
	for r := range in.Rows {
		for c := range in.Cols {
			for w := range in.Width {
				x, y := a.p.source(in.A, r*in.Width+w, true), a.p.source(in.B, c*in.Width+w, true)
				if x.scalar {
					x, y = y, x
				}
				op := simd.OpAddProduct
				switch {
				case w == 0 && y.scalar:
					op = simd.OpMulScalar
				case w == 0:
					op = simd.OpMul
				case y.scalar:
					op = simd.OpAxpy
				}
				a.emit(simd.Instruction{Op: op, Count: 1, To: lanes(to + r*in.Cols + c), A: x.place(), B: y.place()})
			}
		}
	}
}

// pick is a choice among rows by an index.
type pick struct {
	index graph.Buf
	rows  int
}

// block puts the rows that an index picks into lanes (-1 for an index outside of
// 0..rows-1), and returns the first element.
func (a *assembler) block(index graph.Buf, rows int) int {
	k := pick{index, rows}
	at, ok := a.p.blocks[k]
	if !ok {
		size := a.p.tape.Buffers[index].Size
		at = a.p.newElements(size)
		a.p.blocks[k] = at
		a.emit(simd.Instruction{
			Op: simd.OpBlock, Count: size, To: lanes(at), A: lanes(a.p.place[index]), B: a.p.constant(float64(rows)).place(),
		})
	}
	return at
}

// gather picks rows of a table that all records share.
func (a *assembler) gather(in graph.Instr) {
	block, to, cols := a.block(in.B.Buf, in.Rows), a.p.place[in.Dst], a.p.constant(float64(in.Cols)).place()
	if in.Width == 1 {
		a.emit(simd.Instruction{
			Op: simd.OpGather, Count: in.Cols, To: lanes(to), A: cols, B: a.p.source(in.A, 0, true).place(), C: lanes(block), Groups: in.Rows,
		})
		return
	}
	for i := range in.Cols {
		for w := range in.Width {
			a.emit(simd.Instruction{
				Op: simd.OpGather, Count: 1, To: lanes(to + i*in.Width + w), A: cols,
				B: a.p.source(in.A, i, true).place(), C: lanes(block + w), Groups: in.Rows,
			})
		}
	}
}
