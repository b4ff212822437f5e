package sampler

import (
	"slices"
	"testing"
	"time"

	"d3p/internal/privacy/noise"
)

// watched tells of the batches that it draws.
type watched struct {
	Sampler
	steps chan int
}

func (w watched) Draw(t int, dst []uint32) ([]uint32, bool) {
	batch, all := w.Sampler.Draw(t, dst)
	w.steps <- t
	return batch, all
}

// While a step has its batch, that of the next one is drawn and fetched, and no later one;
// the batches are those of a sampler that draws them in turn.
func TestBatchesAreDrawnAhead(t *testing.T) {
	const first, last, n = 3, 9, 100
	for _, c := range []Config{
		{Scheme: Poisson, Rate: 0.3, PublicN: n}, {Scheme: Full, PublicN: n}, {Scheme: BallsAndBins, BatchSize: 20, PublicN: n},
	} {
		t.Run(c.Scheme, func(t *testing.T) {
			draws := func() Sampler {
				s, err := New(c, n, first, noise.Insecure(5).Stream(noise.Sampling))
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			steps, fetched := make(chan int, n), make(chan []uint32, n)
			a := NewPrefetch(watched{draws(), steps}, func(batch []uint32) { fetched <- slices.Clone(batch) }, first, last)
			soon := func(want int) {
				t.Helper()
				select {
				case step := <-steps:
					if step != want {
						t.Fatalf("step %d is drawn, want %d", step, want)
					}
				case <-time.After(time.Minute):
					t.Fatalf("step %d is not drawn ahead", want)
				}
			}
			soon(first)
			alone, mine := draws(), []uint32(nil)
			for step := first; step < last; step++ {
				batch, all := a.Take(mine)
				want, whole := alone.Draw(step, nil)
				if all != whole || !slices.Equal(batch, want) {
					t.Fatalf("step %d: batch %v, %v, want %v, %v", step, batch, all, want, whole)
				}
				if step+1 < last {
					soon(step + 1)
				}
				if !slices.Equal(batch, want) {
					t.Fatalf("step %d: its batch is overwritten", step)
				}
				if mine = batch; !all && !slices.Equal(<-fetched, want) {
					t.Fatalf("step %d: other records are fetched", step)
				}
			}
			a.Close()
			if len(steps) > 0 || len(fetched) > 0 {
				t.Error("a batch is drawn that no step needs")
			}
		})
	}
}
