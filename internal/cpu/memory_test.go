package cpu

import (
	"math"
	"runtime"
	"testing"

	"d3p/internal/privacy"
)

// TestMemoryOfAThread compares the memory of a second thread with Memory.
func TestMemoryOfAThread(t *testing.T) {
	tape := noisyFilter(t)
	rows := &privacy.Rows{N: 1, K: tape.K, Stride: tape.K, Valid: []bool{true}, F32: make([]float32, tape.K)}
	p, err := compile(tape)
	if err != nil {
		t.Fatal(err)
	}
	taken := func(threads int) int {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w := newWorker(p, rows, threads)
		runtime.ReadMemStats(&after)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return int(after.TotalAlloc - before.TotalAlloc)
	}
	taken(1)
	want := taken(9) - taken(1)
	got, records, err := Memory(tape)
	if err != nil || records != p.chunk {
		t.Fatal(records, err)
	}
	// the allocator rounds sizes up
	if d := float64(8*got-want) / float64(want); math.Abs(d) > 0.1 {
		t.Errorf("%d bytes for a thread, allocated %d", got, want/8)
	}
}
