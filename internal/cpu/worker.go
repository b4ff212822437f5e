package cpu

import (
	"fmt"
	"slices"
	"unsafe"

	"d3p/internal/privacy"
	"d3p/internal/simd"
)

// worker runs one tape on one table.
//
// It cuts the batch into chunks, whose size depends only on the tape, and groups the chunks
// into shards, whose number depends only on the batch and the tape. A shard sums its chunks
// in order, and the result sums the shards in order. So the number of threads changes no
// bit.
type worker struct {
	p        *program
	rows     *privacy.Rows
	pool     *pool
	contexts []*context  // one per thread
	sums     [][]float64 // one per shard but the first, which is the caller's dst
	counts   []float64   // one per shard, or per chunk of parameterParallelSum
	views    []context   // one per thread: see context.borrowing
	globals  []float64
	turned   []float64
	everyone []uint32 // 0 .. N-1, for a batch of every record
	stage    frame    // of the global stage

	job job

	readying, sharding, clipping, adding func(thread, piece int) // methods, made once
}

// job is one call of ClippedSum.
type job struct {
	dst    []float64
	in     privacy.StepInput
	batch  []uint32
	size   int // records
	chunks int
	chunk  int // records of each but the last
	shards int
	clip   privacy.Clip

	done, together int // of parameterParallelSum: finished chunks and present ones
}

// context is the memory of one thread.
type context struct {
	frame
	rights []float64 // scaled right factors of products
	rowSum []float64 // sums of a term in rows with separate parameters
	wideScratch
	zeros    int      // records of the chunk that count as zero
	some     []uint32 // indices of the others
	allValid bool     // no record of the table is invalid
}

// maxShards bounds the number of busy threads of one batch, and the memory for partial
// sums.
const maxShards = 16

// shardWork is the smallest work of a shard, in lanes × buffer scalars: below about
// 10 µs a second thread costs more than it saves.
const shardWork = 32 << 10

// The number of elements of the sum, and of rounded weights, from which threads share the
// work of preparing them, and of one piece of that work: 2 µs.
const manyNumbers, readied = 1 << 15, 1 << 13

// nearTable is the size in bytes up to which a table stays in the second-level cache.
const nearTable = 512 << 10

// farRow is the number of bytes of a row that are prefetched. The processor itself
// prefetches the rest, which is read in sequence.
const farRow = 4 << 10

func newWorker(p *program, rows *privacy.Rows, threads int) *worker {
	w := &worker{
		p: p, rows: rows,
		globals: make([]float64, p.globals),
		turned:  make([]float64, p.transposed),
		counts:  make([]float64, max(maxShards, threads)),
		views:   make([]context, threads),
	}
	w.readying, w.sharding, w.clipping, w.adding = w.ready, w.shard, w.clipChunk, w.addPortion
	w.stage = frame{p: p, n: 1, pitch: 1, turned: w.turned}
	w.stage.in[inGlobal], w.stage.in[inConst] = w.globals, p.constants
	fetch := 4*len(rows.F32) + 8*len(rows.F64)
	if fetch > nearTable {
		fetch = min(fetch/rows.N, farRow)
	} else {
		fetch = 0
	}
	if rows.F32 != nil && p.single.size > 0 {
		w.stage.weights32 = make([]float32, p.single.size)
	}
	allValid := !slices.Contains(rows.Valid, false)
	for range threads {
		c := &context{
			allValid:    allValid,
			some:        make([]uint32, p.chunk),
			rowSum:      make([]float64, p.longest),
			rights:      aligned(p.rights()),
			wideScratch: p.wideScratch(),
		}
		c.frame = frame{
			p: p, turned: w.turned, rows: rows, fetch: fetch, in: w.stage.in,
			drawn:  make([]float64, p.tape.AuxRecord*p.chunk),
			padded: make([]uint32, 0, p.chunk),
		}
		if rows.Packing != nil {
			c.unpacks(rows, allValid)
		}
		if p.matrices > 0 {
			c.matrices = make([]float64, p.matrices*p.chunk)
		}
		c.in[inLanes], c.in[inWeighted] = aligned(p.lanes*p.chunk), aligned(p.weighted*p.chunk)
		c.in[inNumbers] = make([]float64, p.numbers)
		if w.stage.weights32 != nil {
			c.weights32 = w.stage.weights32
			c.right32, c.left32 = make([]float32, p.single.right*p.chunk), make([]float32, p.single.left*p.chunk)
		}
		w.contexts = append(w.contexts, c)
	}
	if threads > 1 {
		w.pool = newPool(threads)
	}
	return w
}

// aligned returns n zeros that start at a cache line.
func aligned(n int) []float64 {
	const line = 64
	x := make([]float64, n+line/8)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(x))) % line / 8
	return x[skip:][:n]
}

// ClippedSum implements privacy.Worker.
func (w *worker) ClippedSum(dst []float64, in privacy.StepInput, batch []uint32, all bool, clip privacy.Clip) (float64, error) {
	t := w.p.tape
	if len(dst) != t.P || len(in.Params) != t.P || len(in.Aux) != t.AuxGlobal {
		panic(fmt.Sprintf("cpu: sum, parameters and noise of length %d, %d, %d, want %d, %d, %d",
			len(dst), len(in.Params), len(in.Aux), t.P, t.P, t.AuxGlobal))
	}
	if all {
		batch = w.all()
	}
	size := len(batch)
	if size == 0 {
		clear(dst)
		return 0, nil
	}
	if beyond(batch, w.rows.N) { // kernels do not check
		panic("cpu: a batch has a record that the table has not")
	}
	w.stage.in[inTheta], w.stage.in[inAux] = in.Params, in.Aux
	w.stage.execute(w.p.global)
	w.stage.turn(w.p.inRows)

	chunks, chunk := w.p.chunks(size)
	w.job = job{dst: dst, in: in, batch: batch, size: size, clip: clip, chunks: chunks, chunk: chunk, shards: w.shards(size, chunks)}
	w.prepare(in)
	if numbers := max(len(dst), len(w.stage.weights32)); w.pool == nil || numbers < manyNumbers {
		w.readyPiece(0, numbers)
	} else {
		w.pool.run((numbers+readied-1)/readied, w.readying)
	}
	if w.p.portions != nil {
		return w.parameterParallelSum(), nil
	}
	if w.pool == nil || w.job.shards == 1 {
		for s := range w.job.shards {
			w.shard(0, s)
		}
	} else {
		w.pool.run(w.job.shards, w.sharding)
	}
	count := 0.0
	for s := range w.job.shards {
		if s > 0 {
			simd.Add(dst, dst, w.sums[s-1])
		}
		count += w.counts[s]
	}
	return count, nil
}

// beyond reports whether a batch has an index that is not below n.
func beyond(batch []uint32, n int) bool {
	last, room := int64(n)-1, int64(0)
	for _, k := range batch {
		room |= last - int64(k) // negative once an index is
	}
	return room < 0
}

// shards depends on the batch and the tape, never on the threads.
func (w *worker) shards(size, chunks int) int {
	if w.p.portions != nil {
		return 1
	}
	work := size * w.p.work
	// a shard's sum of P scalars must be cheap compared with its work
	return max(1, min(maxShards, chunks, work/max(shardWork, 8*w.p.tape.P)))
}

// all returns the indices of every record.
func (w *worker) all() []uint32 {
	for len(w.everyone) < w.rows.N {
		w.everyone = append(w.everyone, uint32(len(w.everyone)))
	}
	return w.everyone
}

// prepare points the contexts at this step. It allocates if a batch needs more shards than
// any before.
func (w *worker) prepare(in privacy.StepInput) {
	for len(w.sums) < w.job.shards-1 {
		w.sums = append(w.sums, make([]float64, w.p.tape.P))
	}
	for _, c := range w.contexts {
		c.in[inTheta], c.in[inAux] = in.Params, in.Aux
		if w.p.tape.AuxRecord > 0 && c.noise == nil {
			c.noise = in.RecordNoise.Clone()
		}
	}
}

// ready clears a piece of the sum and rounds a piece of the weights.
func (w *worker) ready(_, piece int) { w.readyPiece(piece*readied, (piece+1)*readied) }

func (w *worker) readyPiece(low, high int) {
	for _, z := range w.p.zeroed {
		if from, to := max(low, z.from), min(high, z.to); from < to {
			clear(w.job.dst[from:to])
		}
	}
	weights := len(w.stage.weights32)
	w.stage.narrowWeights(min(low, weights), min(high, weights))
}

// shard sums the chunks of one shard, on one thread.
func (w *worker) shard(thread, s int) {
	c, j := w.contexts[thread], &w.job
	sum := j.dst
	if s > 0 {
		sum = w.sums[s-1]
		clear(sum)
	}
	count := 0.0
	for k := s * j.chunks / j.shards; k < (s+1)*j.chunks/j.shards; k++ {
		count += c.clipChunk(j, k)
		c.accumulate(sum)
	}
	w.counts[s] = count
}

// clipChunk computes chunk k up to its factors, and returns its part of the count.
func (c *context) clipChunk(j *job, k int) (count float64) {
	first := k * j.chunk
	c.take(j.batch[first:], min(j.chunk, j.size-first))
	c.load(j.in, first)
	c.execute(c.p.record)
	c.addWide()
	c.cross()
	return c.factors(j.clip)
}

// Threads implements privacy.ParallelWorker.
func (w *worker) Threads() int { return len(w.contexts) }

// Parallel implements privacy.ParallelWorker.
func (w *worker) Parallel(n int, work func(thread, piece int)) {
	if w.pool != nil {
		w.pool.run(n, work)
		return
	}
	for k := range n {
		work(0, k)
	}
}

// Close implements privacy.Worker.
func (w *worker) Close() error {
	if w.pool != nil {
		w.pool.close()
	}
	return nil
}

var _ privacy.ParallelWorker = (*worker)(nil)
