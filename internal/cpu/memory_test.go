package cpu

import (
	"runtime"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/enginetest"
)

// TestMemoryOfAThread compares the memory of a second thread with Memory.
func TestMemoryOfAThread(t *testing.T) {
	tapes := map[string]*graph.Tape{"noisy filter": noisyFilter(t)}
	for _, m := range enginetest.Sized() {
		tapes[m.Name] = m.Tape(t)
	}
	for name, tape := range tapes {
		p, err := compile(tape)
		if err != nil {
			t.Fatal(err)
		}
		want := threadMemory(t, p)
		got, records, err := Memory(tape)
		if err != nil || records != p.chunk {
			t.Fatal(records, err)
		}
		// the allocator rounds sizes up, and a thread has 10 KiB of its own
		if d := want - got; d < 0 || d > 40<<10 {
			t.Errorf("%s: %d bytes for a thread, allocated %d", name, got, want)
		}
	}
}

// threadMemory is what a further thread allocates, in bytes.
func threadMemory(tb testing.TB, p *program) int {
	tb.Helper()
	rows := &privacy.Rows{N: 1, K: p.tape.K, Stride: p.tape.K, Valid: []bool{true}, F32: make([]float32, p.tape.K)}
	taken := func(threads int) int {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w := newWorker(p, rows, threads)
		runtime.ReadMemStats(&after)
		if err := w.Close(); err != nil {
			tb.Fatal(err)
		}
		return int(after.TotalAlloc - before.TotalAlloc)
	}
	taken(1)
	return (taken(9) - taken(1)) / 8
}

// TestNormsNeedHardlyAnyMemory: a thread that takes norms needs at most a tenth more than
// one that sums the same gradients without them.
func TestNormsNeedHardlyAnyMemory(t *testing.T) {
	for _, m := range enginetest.Sized() {
		p, err := compile(m.Tape(t))
		if err != nil {
			t.Fatal(err)
		}
		if with, without := threadMemory(t, p), plainMemory(t, p.tape); float64(with) > 1.1*float64(without) {
			t.Errorf("%s: %d bytes with norms, %d without", m.Name, with, without)
		}
	}
}

// plainMemory is the memory of a thread without norms.
func plainMemory(tb testing.TB, tape *graph.Tape) int {
	tb.Helper()
	q := plainProgram(tb, tape)
	q.turned, q.weighted, q.scattered, q.elements, q.widest = 0, 0, 0, 0, 0
	q.mostRows, q.picked, q.panels, q.widePairs = 0, 0, 0, false
	for i := range q.terms {
		switch t := &q.terms[i]; {
		case t.turns():
			_, size, _ := t.right(q.tape)
			q.turned = max(q.turned, t.turned+size)
		case t.Kind == graph.TermOuter:
			q.weighted = max(q.weighted, t.weighted+q.tape.Buffers[t.Delta].Size)
		}
	}
	return threadMemory(tb, q)
}
