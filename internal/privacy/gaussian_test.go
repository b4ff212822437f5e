package privacy

import (
	"math"
	"sync"
	"testing"

	"d3p/internal/privacy/noise"
)

// lender lends threads; it works for no tape.
type lender struct {
	Worker
	threads int
}

func (l lender) Threads() int { return l.threads }

// Share calls work for the pieces in another order than their numbers.
func (l lender) Share(n int, work func(thread, piece int)) {
	var group sync.WaitGroup
	for t := range l.threads {
		group.Go(func() {
			for k := n - 1; k >= 0; k-- {
				if (k*7+3)%l.threads == t {
					work(t, k)
				}
			}
		})
	}
	group.Wait()
}

// The noise of a large sum has the bits of AddGaussian on any number of threads.
func TestNoiseOnThreads(t *testing.T) {
	for _, n := range []int{1, 100, loopPiece + 1, sharedLoop - 1, sharedLoop, sharedLoop + 12345} {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Sin(float64(i))
		}
		want := append([]float64(nil), x...)
		s := noise.Insecure(4).Stream(noise.GradientNoise)
		s.Seek(7)
		s.AddGaussian(want, 1.3)
		for _, threads := range []int{1, 2, 3, 8} {
			g := newGaussian(noise.Insecure(4).Stream(noise.GradientNoise), newLoops(lender{threads: threads}))
			got := append([]float64(nil), x...)
			g.add(got, 7, 2, 1.3)
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("n=%d, %d threads: element %d is %g, want %g", n, threads, i, got[i], want[i])
				}
			}
			g.wipe()
		}
	}
}

// Ranges cover every number once, none shared between threads that overlap.
func TestLoops(t *testing.T) {
	for _, n := range []int{0, 1, loopPiece, sharedLoop - 1, sharedLoop, 100_001} {
		for _, threads := range []int{1, 2, 5} {
			l := newLoops(lender{threads: threads})
			seen, used := make([]int, n), make([]int, threads)
			l.Run(n, func(thread, low, high int) {
				used[thread]++ // a race if two threads had one number
				for i := low; i < high; i++ {
					seen[i]++
				}
				if low%16 != 0 {
					t.Errorf("a range starts at %d", low)
				}
			})
			for i, times := range seen {
				if times != 1 {
					t.Fatalf("n=%d, %d threads: number %d was in %d ranges", n, threads, i, times)
				}
			}
		}
	}
	var none *Loops
	none.Run(3, func(thread, low, high int) {
		if thread != 0 || low != 0 || high != 3 {
			t.Errorf("thread %d has %d to %d", thread, low, high)
		}
	})
}
