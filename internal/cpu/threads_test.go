package cpu

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"d3p/internal/privacy"
)

// One thread and many give the same bits, whichever thread takes which shard.
func TestThreadsGiveTheSameBits(t *testing.T) {
	const n, d = 20011, 20
	tape := logistic(t, d)
	rows := logisticRows(n, d, tape.K)
	rng := rand.New(rand.NewPCG(8, 8))
	in := privacy.StepInput{Params: make([]float64, tape.P)}
	for i := range in.Params {
		in.Params[i] = rng.NormFloat64()
	}
	batch := make([]uint32, n)
	for i, j := range rng.Perm(n) {
		batch[i] = uint32(j)
	}
	clip := privacy.Clip{Kind: privacy.Flat, Norm: 0.7}
	for _, size := range []int{0, 1, 300, 5000, n} {
		var want []float64
		wantCount := 0.0
		for _, threads := range []int{1, 2, 3, 8} {
			w, err := New(Options{Threads: threads}).Open(tape, rows)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float64, tape.P)
			for range 5 {
				count, err := w.ClippedSum(got, in, batch[:size], false, clip)
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want, wantCount = append(want, got...), count
				}
				if count != wantCount {
					t.Errorf("B=%d: count %g on %d threads, %g on one", size, count, threads, wantCount)
				}
				for i := range got {
					if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
						t.Fatalf("B=%d: sum[%d] = %x on %d threads, %x on one", size, i, got[i], threads, want[i])
					}
				}
			}
			if size == n && w.(*worker).job.shards < 4 {
				t.Errorf("B=%d has %d shards: the test tests little", size, w.(*worker).job.shards)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Every piece of every job is done exactly once, also when workers sleep between.
func TestPool(t *testing.T) {
	var done [16]atomic.Int64
	p := newPool(4)
	defer p.close()
	want := make([]int64, len(done))
	for job := range 20000 {
		n := 1 + job%len(done)
		p.run(n, func(_, piece int) { done[piece].Add(1) })
		for piece := range n {
			want[piece]++
		}
	}
	for piece := range done {
		if got := done[piece].Load(); got != want[piece] {
			t.Errorf("piece %d was done %d times, want %d", piece, got, want[piece])
		}
	}
}

// A worker lends its threads: every piece is done once, and nothing is allocated.
func TestShare(t *testing.T) {
	tape := logistic(t, 3)
	for _, threads := range []int{1, 2, 5} {
		opened, err := New(Options{Threads: threads}).Open(tape, logisticRows(10, 3, tape.K))
		if err != nil {
			t.Fatal(err)
		}
		w := opened.(privacy.ParallelWorker)
		if w.Threads() != threads {
			t.Errorf("%d threads, want %d", w.Threads(), threads)
		}
		var done [100]atomic.Int32
		work := func(thread, piece int) {
			if thread >= threads {
				t.Errorf("thread %d of %d", thread, threads)
			}
			done[piece].Add(1)
		}
		w.Parallel(len(done), work)
		for k := range done {
			if n := done[k].Load(); n != 1 {
				t.Errorf("%d threads: piece %d was done %d times", threads, k, n)
			}
		}
		if a := testing.AllocsPerRun(10, func() { w.Parallel(len(done), work) }); a > 0 {
			t.Errorf("%d threads: %g allocations", threads, a)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
