package cpu

import (
	"runtime"
	"testing"
	"time"

	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
)

// BenchmarkParts reports the time of the parts of a step on one thread: the least time of
// steps that end after each of them, with other records every time, less that of the part
// before. The last part is the rest of ClippedSum.
func BenchmarkParts(b *testing.B) {
	const each = 300 * time.Millisecond
	for _, w := range workloads()[:5] {
		b.Run(w.name, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			tape, rows, in := w.open(b)
			draws, err := sampler.New(sampler.Config{Scheme: "poisson", Rate: float64(w.batch) / float64(w.records)}, w.records, 0, noise.Insecure(1).Stream(noise.Sampling))
			if err != nil {
				b.Fatal(err)
			}
			opened, err := New(Options{Threads: 1}).Open(tape, rows)
			if err != nil {
				b.Fatal(err)
			}
			defer opened.Close()
			s := opened.(*worker)
			c, p := s.contexts[0], s.p
			clip := privacy.Clip{Kind: privacy.Flat, Norm: 1}
			dst := make([]float64, tape.P)
			var batch []uint32
			step, first := 0, 0
			sample := func() { batch, _ = draws.Draw(step, batch[:0]); step++ }
			if sample(); len(batch) == 0 {
				b.Fatal("an empty batch")
			}
			if _, err := opened.ClippedSum(dst, in, batch, false, clip); err != nil {
				b.Fatal(err)
			}
			perStep := []struct {
				name string
				run  func()
			}{{"sampling", sample}, {"global", func() { s.stage.execute(p.global); s.stage.turn(p.inRows) }}}
			perChunk := []struct {
				name string
				run  func()
			}{
				{"load", func() { c.load(in, first) }},
				{"tape+norms", func() { c.execute(p.record); c.addWide(); c.cross() }},
				{"clipping", func() { c.factors(clip) }},
				{"sums", func() { c.accumulate(dst) }},
			}
			parts := func(steps, chunks int) func() {
				return func() {
					for _, part := range perStep[:steps] {
						part.run()
					}
					count, chunk := p.chunks(max(1, len(batch)))
					for k := range count {
						first = k * chunk
						if chunks == 0 || first >= len(batch) {
							break
						}
						c.take(batch[first:], min(chunk, len(batch)-first))
						for _, part := range perChunk[:chunks] {
							part.run()
						}
					}
				}
			}
			for range b.N {
				before := 0.0
				report := func(name string, run func()) {
					ns := fastest(run, each, threadTime)
					b.ReportMetric(ns-before, "ns/"+name)
					before = ns
				}
				for k, part := range perStep {
					report(part.name, parts(k+1, 0))
				}
				for k, part := range perChunk {
					report(part.name, parts(len(perStep), k+1))
				}
				report("rest", func() {
					sample()
					if _, err := opened.ClippedSum(dst, in, batch, false, clip); err != nil {
						b.Fatal(err)
					}
				})
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
