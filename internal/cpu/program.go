package cpu

import (
	"fmt"
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/simd"
)

// program is a tape prepared for lanes: every per-record buffer has a place in the
// arena of a thread, where element i of the chunk's record b is at
// (place+i)·pitch + b. Nothing changes it after compile.
type program struct {
	tape *graph.Tape

	global, record []item    // record: the tape's, then the norms from the structure of terms
	inRows         []instr   // part of record that runs before the rest: products with rows in place
	globals        int       // scalars computed once per step
	constants      []float64 // of all const buffers, and others
	transposed     int       // scalars of matrices transposed once per step
	single         singleWeights
	portions       []portion // of the sum, if all threads share it
	zeroed         []span    // ranges of the sum that are set to zero before it
	place          []int
	lane           []bool // per buffer: has lanes in the arena
	lanes          int    // elements of the arena
	results        int    // of these, the elements of the tape
	numbers        int    // scratch for sums over lanes

	columns []columns   // copied to lanes at the start of a chunk
	noise   []graph.Buf // per-record noise blocks, likewise
	blocks  map[pick]int
	terms   []term
	weights *simd.Program // the part of the sums that programs compute; nil if nothing
	runs    []run
	loose   bool    // parts of a gradient can cancel
	slack   float64 // see privacy.NormSlack
	chunk   int     // records per chunk
	work    int     // of one record in lanes × scalars, to choose the number of threads
	longest int     // row of X of a term in rows

	weighted int // elements of weighted factors of terms
	turned   int // numbers of a record, of right factors of products
	matrices int // numbers of a record, of the largest outer product with its factors
	// of wide terms
	kept        int // elements of all kept terms
	keptParts   []turnedPart
	keptFactors int // numbers of these
	divided     int // numbers of a record, of the largest factor
	panels      int // numbers of eight records, of the largest panels
	elements    int // of the largest that is written out
	widest      int // places
	mostRows    int // of a scatter
	picked      int // numbers of a record, of a scatter whose rows are not copied
	scattered   int // likewise, of one whose rows are
	widePairs   bool
	ones        []float64

	// elements of the arena: |g_b|², its factor, the size of the parts that may have
	// cancelled, and two intermediate values
	norm2, factor, size, part, other int
	spare                            [3]room // for scalars of operands, repeated in lanes
}

// instr is a tape instruction that is not cut into steps.
type instr struct {
	graph.Instr
	// turned is the place of A's transpose, for a product with rows in place. single is the
	// place of A's float32 copy, for a large product. Else they are -1.
	turned, single int
}

// With this number of lanes a thread's arena stays in the second-level cache. It is a
// multiple of 16 (see graph.KAuxRecord and noise.Stream.Normals). If each chunk reads large
// matrices of parameters, larger chunks in a farther cache are cheaper.
const (
	arenaScalars       = 48 << 10 // 384 KiB
	minChunk, maxChunk = 16, 256
	chunkUnit          = 16
	largeP, largeChunk = 32 << 10, 96
	largeArena         = 4 << 20 // scalars: the most memory of such a chunk
	// productLanes multiplications of a matrix product cost as much as one lane of an
	// element-wise operation.
	productLanes = 8
	// recordLanes is the fixed work per record, in lanes of operations: a logistic
	// regression takes 8 ns per record, and 0.11 ns for each of its 2 D lanes.
	recordLanes = 64
)

// The pitch is a multiple of laneUnit, so that vectors begin at cache lines.
const laneUnit = 8

// compile prepares a tape whose loss is per record.
func compile(t *graph.Tape) (*program, error) {
	p := &program{tape: t, work: recordLanes, place: make([]int, len(t.Buffers)), lane: make([]bool, len(t.Buffers)), blocks: map[pick]int{}}
	p.placeBuffers()
	for _, element := range []*int{&p.norm2, &p.factor, &p.size, &p.part, &p.other} {
		*element = p.newElements(1)
	}
	p.loose = privacy.Cancels(t)
	global := assembler{p: p}
	for _, in := range t.Global {
		global.add(in)
	}
	p.global = global.items()
	record := assembler{p: p, record: true}
	for _, in := range needed(t) {
		if readsRows(t, &in) {
			p.inRows = append(p.inRows, p.inRow(in))
			p.work += in.Rows * in.Cols
			continue
		}
		record.add(in)
		if in.Op == graph.OpMatVec {
			p.work += in.Rows * in.Cols * in.Width / productLanes
		}
	}
	p.work += p.results
	if err := p.addTerms(&record); err != nil {
		return nil, err
	}
	p.record = record.items()
	p.planGram()
	p.planPairs()
	p.planPortions()
	p.weighted, p.turned = max(p.weighted, p.divided), max(p.turned, p.divided, p.scattered) // the factors of a wide term are written there
	p.chunk = p.chunkSize()
	p.ones = slices.Repeat([]float64{1}, max(p.chunk, p.matrices))
	return p, nil
}

// chunkSize is the number of records of a chunk.
func (p *program) chunkSize() int {
	scalars := p.lanes + p.weighted + p.turned + p.matrices + p.tape.AuxRecord // of a record
	chunk := maxChunk
	for chunk > minChunk && chunk*scalars > arenaScalars {
		chunk /= 2
	}
	if p.tape.P > largeP {
		chunk = max(chunk, min(largeChunk, largeArena/scalars/chunkUnit*chunkUnit))
	}
	if p.loose {
		chunk = min(chunk, privacy.TogetherAtMost(p.tape))
	}
	return chunk
}

// addTerms prepares norms, at the end of the record stage, and sums.
func (p *program) addTerms(norms *assembler) error {
	zero := p.constant(0).place()
	norms.emit(simd.Instruction{Op: simd.OpFill, Count: 1, To: lanes(p.norm2), A: zero})
	if p.loose {
		norms.emit(simd.Instruction{Op: simd.OpFill, Count: 1, To: lanes(p.size), A: zero})
	}
	for _, tm := range p.tape.Terms {
		if !p.tape.Buffers[tm.Delta].Kind.PerRecord() {
			return fmt.Errorf("cpu: the tape's gradient is not per record")
		}
		p.terms = append(p.terms, term{Term: tm, xInRows: termReadsRows(p.tape, &tm)})
	}
	p.preferElements()
	for i := range p.terms {
		t := &p.terms[i]
		norms.squares(t)
		if t.wide() {
			p.planWide(t)
		}
	}
	p.prepareSums()
	p.slack = privacy.NormSlack(p.tape)
	return nil
}

// chunks cuts a batch into as few chunks as possible, of about one size: the smallest
// chunk costs as much memory traffic for parameters as the largest.
func (p *program) chunks(size int) (chunks, chunk int) {
	chunks = (size + p.chunk - 1) / p.chunk
	chunk = (size + chunks*chunkUnit - 1) / (chunks * chunkUnit) * chunkUnit
	return (size + chunk - 1) / chunk, chunk
}

// shortRow is the largest number of columns whose products and sums are cheaper in lanes
// than row by row.
const shortRow = 16

// readsRows reports whether an instruction of the record stage is a product that reads its
// columns from the rows in place.
func readsRows(t *graph.Tape, in *graph.Instr) bool {
	return in.Op == graph.OpMatVec && in.Width == 1 && in.Rows <= narrow && in.Cols > shortRow &&
		t.Buffers[in.B.Buf].Kind == graph.KColumn
}

// termReadsRows is readsRows for a term's X, whose square must be a column.
func termReadsRows(t *graph.Tape, tm *graph.Term) bool {
	return tm.Kind == graph.TermOuter && tm.Width == 1 && tm.Cols <= narrow && tm.Rows > shortRow &&
		tm.XNorm2 != graph.NoBuf && t.Buffers[tm.X].Kind == graph.KColumn
}

// inRow prepares a product with rows in place.
func (p *program) inRow(in graph.Instr) instr {
	c := instr{Instr: in, turned: -1, single: -1}
	if in.Trans && in.Rows > 1 {
		c.turned = p.transposed
		p.transposed += in.Rows * in.Cols
	}
	return c
}

// needed is the part of the record stage that the gradient needs. Nothing reads the loss.
func needed(t *graph.Tape) []graph.Instr { return t.Record[:t.Gradient] }
