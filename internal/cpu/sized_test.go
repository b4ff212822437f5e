package cpu

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"d3p/internal/privacy"
	"d3p/internal/privacy/enginetest"
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
	forward := withoutNorms(p)
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
		memory: [2]int{threadMemory(b, p) + 8*tape.P, plainMemory(b, p) + 8*tape.P}, batch: batch, written: 4 * batch * tape.P,
	}
	l.close = func() { w.Close(); runtime.UnlockOSThread() }
	l.private = func() {
		if _, err := w.ClippedSum(dst, in, chosen, false, clip); err != nil {
			b.Fatal(err)
		}
	}
	c := w.contexts[0]
	l.plain = func() {
		w.stage.execute(p.global)
		clear(dst)
		count, chunk := p.chunks(batch)
		for k := range count {
			c.take(chosen[k*chunk:], min(chunk, batch-k*chunk))
			c.load(in, k*chunk)
			c.execute(forward)
			c.factors(privacy.Clip{Kind: privacy.Unclipped})
			c.accumulate(dst)
		}
	}
	return l
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

// withoutNorms are the items of the record stage, less those of norms. It may add
// elements to the arena, so it comes before newWorker.
func withoutNorms(p *program) []item {
	blocks := p.blocks
	p.blocks = map[pick]int{} // so that the items fill blocks of their own
	a := assembler{p: p, record: true}
	for _, in := range needed(p.tape) {
		if !readsRows(p.tape, &in) {
			a.add(in)
		}
	}
	p.blocks = blocks
	return a.items()
}
