package cpu

import (
	"fmt"

	"d3p/internal/models/graph"
)

// A program is a tape prepared for lanes: every per-record buffer has a place
// in the arena of a thread, where element i of the chunk's record b is at
// (place+i)·n + b, n the records of the chunk. It is read only after compile.
type program struct {
	tape *graph.Tape

	global, record []instr
	inRows         []instr   // of record, taken before the others: products with rows in place
	globals        int       // scalars computed once per step
	constants      []float64 // of all const buffers
	transposed     int       // scalars of matrices transposed once per step
	single         singleWeights
	place          []int
	lane           []bool // per buffer: has lanes in the arena
	lanes          int    // arena scalars per lane
	weighted       int    // scalars per lane of the largest term's Delta

	columns []graph.Buf // column blocks copied to lanes at the start of a chunk
	noise   []graph.Buf // per-record noise blocks, likewise
	terms   []term
	chunk   int // records per chunk
	work    int // lanes × scalars of one record's products, for choosing threads
	longest int // row of X of a term in rows

	// of wide terms
	kept       int // elements kept for a record, of all
	elements   int // of the largest that is written out
	widest     int // places
	longestRow int // of a scatter
	widePairs  bool
}

// An instr is a tape instruction with what its operands are.
type instr struct {
	graph.Instr
	steps []step // of element-wise operations, sums, maxima and puts
	// turned is where the transpose of A is kept for a product with rows in
	// place where it has to be turned, single where its float32 copy is for a
	// large product; else -1.
	turned, single int
}

// A term is a tape term with where its operands live.
type term struct {
	graph.Term
	xInRows bool
	kept    bool // the norm's elements serve the sum
	at      int  // of those elements among the kept ones of a record
}

// Lanes are chosen so that a thread's arena stays in the second-level cache,
// and are a multiple of 16: see graph.KAuxRecord and noise.Stream.Normals.
// Where large matrices of parameters are read for each chunk, that costs more
// than lanes in a farther cache.
const (
	arenaScalars       = 48 << 10 // 384 KiB
	minChunk, maxChunk = 16, 256
	chunkUnit          = 16
	largeP, largeChunk = 32 << 10, 96
	largeArena         = 4 << 20 // scalars: what such a chunk may take at most
	// productLanes is how many multiplications of a matrix product cost as much
	// as one lane of an element-wise operation.
	productLanes = 8
)

// compile prepares a tape whose loss is per record.
func compile(t *graph.Tape) (*program, error) {
	p := &program{tape: t, place: make([]int, len(t.Buffers)), lane: make([]bool, len(t.Buffers))}
	p.placeBuffers()
	for _, in := range t.Global {
		p.global = append(p.global, p.instruction(in, false))
	}
	for _, in := range needed(t) {
		if readsRows(t, &in) {
			p.inRows = append(p.inRows, p.instruction(in, true))
			p.work += in.Rows * in.Cols
			continue
		}
		p.record = append(p.record, p.instruction(in, true))
		if in.Op == graph.OpMatVec {
			p.work += in.Rows * in.Cols * in.Width / productLanes
		}
	}
	for _, tm := range t.Terms {
		if !t.Buffers[tm.Delta].Kind.PerRecord() {
			return nil, fmt.Errorf("cpu: the tape's gradient is not per record")
		}
		x := termReadsRows(t, &tm)
		p.terms = append(p.terms, term{Term: tm, xInRows: x})
		p.weighted = max(p.weighted, t.Buffers[tm.Delta].Size)
		switch {
		case x:
			p.longest = max(p.longest, tm.Rows)
			p.work += tm.Rows * tm.Cols
		case tm.Kind == graph.TermOuter && tm.Width == 1:
			p.weighted = max(p.weighted, tm.Rows) // either factor may be turned
			p.work += tm.Rows * tm.Cols / productLanes
		}
	}
	p.planWide()
	p.work += p.lanes
	p.chunk = p.chunkSize()
	return p, nil
}

// chunkSize is how many records are worked on at once.
func (p *program) chunkSize() int {
	scalars := p.lanes + p.weighted + p.kept + p.tape.AuxRecord // of a record
	chunk := maxChunk
	for chunk > minChunk && chunk*scalars > arenaScalars {
		chunk /= 2
	}
	if p.tape.P > largeP {
		chunk = max(chunk, min(largeChunk, largeArena/scalars/chunkUnit*chunkUnit))
	}
	return chunk
}

// chunks cuts a batch into as few chunks as it needs, of about one size: the
// least chunk costs as much memory traffic for parameters as the largest.
func (p *program) chunks(size int) (chunks, chunk int) {
	chunks = (size + p.chunk - 1) / p.chunk
	chunk = (size + chunks*chunkUnit - 1) / (chunks * chunkUnit) * chunkUnit
	return (size + chunk - 1) / chunk, chunk
}

// readsRows says whether an instruction of the record stage is a product with
// columns that are read from the rows in place.
func readsRows(t *graph.Tape, in *graph.Instr) bool {
	return in.Op == graph.OpMatVec && in.Width == 1 && in.Rows <= narrow && t.Buffers[in.B.Buf].Kind == graph.KColumn
}

// termReadsRows says the same of a term's X.
func termReadsRows(t *graph.Tape, tm *graph.Term) bool {
	return tm.Kind == graph.TermOuter && tm.Width == 1 && tm.Cols <= narrow && t.Buffers[tm.X].Kind == graph.KColumn
}

// placeBuffers gives every global and lane buffer its place.
func (p *program) placeBuffers() {
	t := p.tape
	inLanes := make([]bool, len(t.Buffers))
	mark := func(o graph.Operand) {
		if o.Buf != graph.NoBuf && t.Buffers[o.Buf].Kind == graph.KColumn {
			inLanes[o.Buf] = true
		}
	}
	for _, in := range needed(t) {
		for k, o := range operands(&in) {
			if !(k == 1 && readsRows(t, &in)) {
				mark(o)
			}
		}
	}
	for _, tm := range t.Terms {
		switch {
		case tm.Kind == graph.TermScatter:
			mark(graph.Operand{Buf: tm.Index})
		case tm.Kind == graph.TermOuter:
			if tm.XNorm2 != graph.NoBuf {
				mark(graph.Operand{Buf: tm.XNorm2})
			}
			if !termReadsRows(t, &tm) {
				mark(graph.Operand{Buf: tm.X})
			}
		}
		mark(graph.Operand{Buf: tm.Delta})
	}
	for i, b := range t.Buffers {
		switch b.Kind {
		case graph.KConst:
			p.place[i] = len(p.constants)
			p.constants = append(p.constants, b.Values...)
		case graph.KGlobal:
			p.place[i] = p.globals
			p.globals += b.Size
		case graph.KAuxRecord:
			p.noise = append(p.noise, graph.Buf(i))
			p.newLanes(graph.Buf(i))
		case graph.KColumn:
			if inLanes[i] {
				p.columns = append(p.columns, graph.Buf(i))
				p.newLanes(graph.Buf(i))
			}
		}
	}
	p.placeResults()
}

// needed is the part of the record stage that the gradient needs: the loss
// itself is never looked at.
func needed(t *graph.Tape) []graph.Instr { return t.Record[:t.Gradient] }

// operands lists the operands of an instruction; absent ones have NoBuf.
func operands(in *graph.Instr) [3]graph.Operand {
	none := graph.Operand{Buf: graph.NoBuf}
	o := [3]graph.Operand{in.A, none, none}
	switch in.Op {
	case graph.OpMatVec, graph.OpOuter, graph.OpGather, graph.OpScatter:
		o[1] = in.B
	default:
		if in.Op.Arity() >= 2 {
			o[1] = in.B
		}
		if in.Op.Arity() == 3 {
			o[2] = in.C
		}
	}
	return o
}

// instruction prepares one instruction.
func (p *program) instruction(in graph.Instr, record bool) instr {
	c := instr{Instr: in, steps: p.steps(&in, record), turned: -1, single: -1}
	if record && readsRows(p.tape, &in) && in.Trans && in.Rows > 1 {
		c.turned = p.transposed
		p.transposed += in.Rows * in.Cols
	} else if record {
		c.single = p.single.weights(&in)
	}
	return c
}
