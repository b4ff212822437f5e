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
	const batch, rounds, each = 128, 3, 150 * time.Millisecond
	for _, m := range enginetest.Sized() {
		b.Run(m.Name, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
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
			defer w.Close()
			dst, chosen := make([]float64, tape.P), make([]uint32, batch)
			for i := range chosen {
				chosen[i] = uint32(rng.IntN(rows.N))
			}
			clip := privacy.Clip{Kind: privacy.Flat, Norm: 1}
			gradient := func() {
				if _, err := w.ClippedSum(dst, in, chosen, false, clip); err != nil {
					b.Fatal(err)
				}
			}
			noisy, adam := afterwards(w, dst, in.Params, true), afterwards(w, dst, in.Params, false)
			private := func() { gradient(); noisy() }
			c := w.contexts[0]
			plain := func() {
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
				adam()
			}
			gradients := 8 * tape.P
			memory := [2]int{threadMemory(b, p) + gradients, plainMemory(b, p) + gradients}
			slow := naive(tape, rows, in, clip)
			for range b.N {
				times := [2]float64{}
				for range rounds {
					for i, run := range []func(){private, plain} {
						if ns := fastest(run, each, threadTime); times[i] == 0 || ns < times[i] {
							times[i] = ns
						}
					}
				}
				b.ReportMetric(times[0]/1e6, "private-ms")
				b.ReportMetric(times[1]/1e6, "plain-ms")
				b.ReportMetric(times[0]/times[1], "x-time")
				b.ReportMetric(fastest(func() { slow(chosen[:4]) }, each, threadTime)/4*batch/1e6, "naive-ms")
				b.ReportMetric(float64(memory[0])/1024, "private-KiB")
				b.ReportMetric(float64(memory[1])/1024, "plain-KiB")
				b.ReportMetric(float64(memory[0])/float64(memory[1]), "x-memory")
				b.ReportMetric(float64(memory[1]+4*batch*tape.P)/1024, "naive-KiB")
				b.ReportMetric(testing.AllocsPerRun(3, gradient), "allocs/step")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
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
