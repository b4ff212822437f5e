package cpu

import (
	"fmt"

	"d3p/internal/cpu/kernel"
	"d3p/internal/privacy"
)

// worker runs one tape on one table.
//
// The batch is cut into chunks of a size that depends on the tape only, and the
// chunks into shards whose number depends on the batch and the tape only. A
// shard's chunks are summed in order into the shard's own sum, and the shards'
// sums in order into the result: however many threads claim shards, the result
// has the same bits.
type worker struct {
	p        *program
	rows     *privacy.Rows
	pool     *pool
	contexts []*context  // one per thread
	sums     [][]float64 // one per shard but the first, which is the caller's dst
	counts   [maxShards]float64
	globals  []float64
	turned   []float64
	stage    frame // of the global stage

	job job
}

// A job is one call of ClippedSum, as the threads see it.
type job struct {
	dst    []float64
	in     privacy.StepInput
	batch  []uint32 // nil: every record
	size   int      // records
	chunks int
	shards int
	clip   privacy.Clip
}

// context is what one thread works in.
type context struct {
	frame
	norm2, factor, delta2 []float64
	weighted              []float64
	zeros                 int // records of the chunk that count as zero
}

// maxShards bounds the threads that one batch can keep busy, and the memory for
// partial sums.
const maxShards = 16

// shardWork is the least work of a shard, in lanes × buffer scalars: below
// about 10 µs a second thread costs more than it brings.
const shardWork = 32 << 10

func newWorker(p *program, rows *privacy.Rows, threads int) *worker {
	w := &worker{
		p: p, rows: rows,
		globals: make([]float64, p.globals),
		turned:  make([]float64, p.transposed),
	}
	w.stage = frame{p: p, n: 1, globals: w.globals, turned: w.turned}
	for range threads {
		c := &context{
			norm2:    make([]float64, p.chunk),
			factor:   make([]float64, p.chunk),
			delta2:   make([]float64, p.chunk),
			weighted: make([]float64, p.weighted*p.chunk),
		}
		c.frame = frame{
			p: p, globals: w.globals, turned: w.turned, rows: rows,
			arena: make([]float64, max(1, p.lanes*p.chunk)),
			drawn: make([]float64, p.tape.AuxRecord*p.chunk),
		}
		w.contexts = append(w.contexts, c)
	}
	if threads > 1 {
		w.pool = newPool(threads, w.shard)
	}
	return w
}

// ClippedSum implements privacy.Worker.
func (w *worker) ClippedSum(dst []float64, in privacy.StepInput, batch []uint32, all bool, clip privacy.Clip) (float64, error) {
	t := w.p.tape
	if len(dst) != t.P || len(in.Params) != t.P || len(in.Aux) != t.AuxGlobal {
		panic(fmt.Sprintf("cpu: sum, parameters and noise of length %d, %d, %d, want %d, %d, %d",
			len(dst), len(in.Params), len(in.Aux), t.P, t.P, t.AuxGlobal))
	}
	clear(dst)
	size := len(batch)
	if all {
		batch, size = nil, w.rows.N
	}
	if size == 0 {
		return 0, nil
	}
	w.stage.theta, w.stage.aux = in.Params, in.Aux
	w.stage.execute(w.p.global)
	w.stage.turn(w.p.record)

	chunks := (size + w.p.chunk - 1) / w.p.chunk
	w.job = job{dst: dst, in: in, batch: batch, size: size, clip: clip, chunks: chunks, shards: w.shards(size, chunks)}
	w.prepare(in)
	if w.pool == nil || w.job.shards == 1 {
		for s := range w.job.shards {
			w.shard(0, s)
		}
	} else {
		w.pool.run(w.job.shards)
	}
	count := 0.0
	for s := range w.job.shards {
		if s > 0 {
			kernel.AddTo(dst, w.sums[s-1])
		}
		count += w.counts[s]
	}
	return count, nil
}

// shards is a function of the batch and the tape, never of the threads.
func (w *worker) shards(size, chunks int) int {
	work := size * (w.p.lanes + w.rowWork())
	// a shard's sum of P scalars must be small beside its work
	return max(1, min(maxShards, chunks, work/max(shardWork, 8*w.p.tape.P)))
}

// rowWork counts the scalars read in place from a row.
func (w *worker) rowWork() int {
	n := 0
	for i := range w.p.terms {
		if w.p.terms[i].xInRows {
			n += 2 * w.p.terms[i].Rows
		}
	}
	return n
}

// prepare points the contexts at this step; it allocates when a batch needs
// more shards than any before.
func (w *worker) prepare(in privacy.StepInput) {
	for len(w.sums) < w.job.shards-1 {
		w.sums = append(w.sums, make([]float64, w.p.tape.P))
	}
	for _, c := range w.contexts {
		c.theta, c.aux = in.Params, in.Aux
		if w.p.tape.AuxRecord > 0 && c.noise == nil {
			c.noise = in.RecordNoise.Clone()
		}
	}
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
		first := k * w.p.chunk
		c.n = min(w.p.chunk, j.size-first)
		c.first = first
		c.index = nil
		if j.batch != nil {
			c.index = j.batch[first : first+c.n]
		}
		c.load(j.in, first)
		c.execute(w.p.record)
		c.norms()
		count += c.factors(j.clip)
		c.accumulate(sum)
	}
	w.counts[s] = count
}

// Close implements privacy.Worker.
func (w *worker) Close() error {
	if w.pool != nil {
		w.pool.close()
	}
	return nil
}

var _ privacy.Worker = (*worker)(nil)
