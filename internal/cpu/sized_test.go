package cpu

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/enginetest"
	"d3p/internal/simd"
)

// BenchmarkLayers reports the least time of a step with batches of 128, for networks of
// the sizes in which layers are used. private-ms has norms, clipping, noise and Adam;
// plain-ms is the same program without the instructions of norms, and without noise.
// naive-ms is the gradient alone, written out record by record. private-KiB is the memory
// of a thread and of a gradient, plain-KiB less what norms alone take, naive-KiB is
// plain-KiB and a float32 gradient of every record.
func BenchmarkLayers(b *testing.B) {
	for _, m := range enginetest.Sized() {
		b.Run(m.Name, func(b *testing.B) {
			l := newLayerSteps(b, m, 128)
			defer l.close()
			for range b.N {
				times := l.inTurns(func() { l.private(); l.noisy() }, func() { l.plain(); l.adam() })
				l.report(b, times)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkOpacusLayers is the same for the layers of Opacus's benchmark and its batches of
// 16. As there a step is a gradient, without noise and optimizer; private-ms has clipping,
// which is left out there. opacus-x-time and opacus-x-memory are what Opacus's CI allows.
func BenchmarkOpacusLayers(b *testing.B) {
	for _, m := range enginetest.OpacusLayers() {
		b.Run(m.Name, func(b *testing.B) {
			l := newLayerSteps(b, m.Model, 16)
			defer l.close()
			for range b.N {
				l.report(b, l.inTurns(l.private, l.plain))
				b.ReportMetric(m.Time, "opacus-x-time")
				b.ReportMetric(m.Memory, "opacus-x-memory")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// layerSteps are the parts of a private and of a plain step, on one thread.
type layerSteps struct {
	private, plain, noisy, adam, naive, close func()
	memory                                    [2]int // with norms and without
	batch, written                            int    // records, and the bytes of a float32 gradient of each
}

const naiveRecords = 4 // of a call of naive

func newLayerSteps(b *testing.B, m enginetest.Model, batch int) (l layerSteps) {
	runtime.LockOSThread()
	tape, rng := m.Tape(b), rand.New(rand.NewPCG(1, 2))
	rows := m.Table(b, tape, rng, privacy.Float32)
	in := privacy.StepInput{Params: make([]float64, tape.P)}
	for i := range in.Params {
		in.Params[i] = 0.1 * rng.NormFloat64()
	}
	p, err := compile(tape)
	if err != nil {
		b.Fatal(err)
	}
	w := newWorker(p, rows, 1)
	dst, chosen := make([]float64, tape.P), make([]uint32, batch)
	for i := range chosen {
		chosen[i] = uint32(rng.IntN(rows.N))
	}
	clip := privacy.Clip{Kind: privacy.Flat, Norm: 1}
	slow := naive(tape, rows, in, clip)
	l = layerSteps{
		noisy: afterwards(w, dst, in.Params, true), adam: afterwards(w, dst, in.Params, false),
		naive:  func() { slow(chosen[:naiveRecords]) },
		memory: [2]int{threadMemory(b, p) + 8*tape.P, plainMemory(b, tape) + 8*tape.P}, batch: batch, written: 4 * batch * tape.P,
	}
	l.close = func() { w.Close(); runtime.UnlockOSThread() }
	l.private = func() {
		if _, err := w.ClippedSum(dst, in, chosen, false, clip); err != nil {
			b.Fatal(err)
		}
	}
	l.plain = plainStep(b, tape, rows, in, dst, chosen)
	return l
}

// plainProgram sums the gradients of a tape without norms. Elements of norms serve no sum:
// all terms are summed by products.
func plainProgram(tb testing.TB, tape *graph.Tape) *program {
	tb.Helper()
	p, err := compile(tape)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range p.terms {
		if t := &p.terms[i]; t.kept {
			t.kept = false
			p.placeTurned(t)
		}
	}
	p.kept, p.keptFactors, p.loose = 0, 0, false
	return p
}

// plainStep sets dst to the sum of the chosen records' gradients, as ClippedSum does,
// without norms.
func plainStep(tb testing.TB, tape *graph.Tape, rows *privacy.Rows, in privacy.StepInput, dst []float64, chosen []uint32) func() {
	p := plainProgram(tb, tape)
	forward := withoutNorms(p)
	w := newWorker(p, rows, 1)
	c := w.contexts[0]
	return func() {
		w.stage.in[inTheta], w.stage.in[inAux] = in.Params, in.Aux
		w.stage.execute(p.global)
		w.stage.turn(p.inRows)
		count, chunk := p.chunks(len(chosen))
		w.job = job{dst: dst, together: 1}
		w.prepare(in)
		w.readyPiece(0, max(len(dst), len(w.stage.weights32)))
		for k := range count {
			c.take(chosen[k*chunk:], min(chunk, len(chosen)-k*chunk))
			c.load(in, k*chunk)
			c.execute(forward)
			clear(c.one(p.norm2)) // it may hold what another chunk left
			c.factors(privacy.Clip{Kind: privacy.Unclipped})
			if p.portions == nil {
				c.accumulate(dst)
				continue
			}
			c.weigh()
			for i := range p.terms {
				c.turn(&p.terms[i])
			}
			w.job.done = k
			for i := range p.portions {
				w.addPortion(0, i)
			}
		}
	}
}

// TestPlainStep: the step that benchmarks compare with sums the same gradients as a private
// step that clips nothing.
func TestPlainStep(t *testing.T) {
	for _, m := range append(enginetest.Sized(), enginetest.OpacusLayers()[0].Model) {
		tape, rng := m.Tape(t), rand.New(rand.NewPCG(1, 2))
		rows := m.Table(t, tape, rng, privacy.Float32)
		in := privacy.StepInput{Params: make([]float64, tape.P)}
		for i := range in.Params {
			in.Params[i] = 0.1 * rng.NormFloat64()
		}
		w, err := New(Options{Threads: 1}).Open(tape, rows)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		got, want, chosen := make([]float64, tape.P), make([]float64, tape.P), make([]uint32, 40)
		for i := range chosen {
			chosen[i] = uint32(rng.IntN(rows.N))
		}
		if _, err := w.ClippedSum(want, in, chosen, false, privacy.Clip{Kind: privacy.Unclipped}); err != nil {
			t.Fatal(err)
		}
		step := plainStep(t, tape, rows, in, got, chosen)
		for range 2 {
			step()
			for i, x := range want {
				if !(math.Abs(got[i]-x) <= 1e-9*(1+math.Abs(x))) {
					t.Fatalf("%s: sum[%d] = %g, want %g", m.Name, i, got[i], x)
				}
			}
		}
	}
}

// inTurns is the least time of each of two steps, in ns.
func (l *layerSteps) inTurns(private, plain func()) (times [2]float64) {
	for range 3 {
		for i, run := range []func(){private, plain} {
			if ns := fastest(run, 150*time.Millisecond, threadTime); times[i] == 0 || ns < times[i] {
				times[i] = ns
			}
		}
	}
	return times
}

func (l *layerSteps) report(b *testing.B, times [2]float64) {
	b.ReportMetric(times[0]/1e6, "private-ms")
	b.ReportMetric(times[1]/1e6, "plain-ms")
	b.ReportMetric(times[0]/times[1], "x-time")
	b.ReportMetric(fastest(l.naive, 150*time.Millisecond, threadTime)/naiveRecords*float64(l.batch)/1e6, "naive-ms")
	b.ReportMetric(float64(l.memory[0])/1024, "private-KiB")
	b.ReportMetric(float64(l.memory[1])/1024, "plain-KiB")
	b.ReportMetric(float64(l.memory[0])/float64(l.memory[1]), "x-memory")
	b.ReportMetric(float64(l.memory[1]+l.written)/1024, "naive-KiB")
	b.ReportMetric(testing.AllocsPerRun(3, l.private), "allocs/step")
}

// withoutNorms are the items of the record stage, less those of norms. Each block of
// picked rows is filled once, before its first use.
func withoutNorms(p *program) []item {
	blocks := p.blocks
	p.blocks = map[pick]int{}
	a := assembler{p: p, record: true}
	fill := func(index graph.Buf, rows int) {
		k := pick{index, rows}
		if at, ok := blocks[k]; ok && p.blocks[k] == 0 {
			p.blocks[k] = at
			size := p.tape.Buffers[index].Size
			a.emit(simd.Instruction{Op: simd.OpBlock, Count: size, To: lanes(at), A: lanes(p.place[index]), B: p.constant(float64(rows)).place()})
		}
	}
	for _, in := range needed(p.tape) {
		if in.Op == graph.OpGather || in.Op == graph.OpScatter {
			fill(in.B.Buf, in.Rows)
		}
		if !readsRows(p.tape, &in) {
			a.add(in)
		}
	}
	for _, t := range p.terms {
		if t.Kind == graph.TermScatter {
			fill(t.Index, t.Rows)
		}
	}
	return a.items()
}
