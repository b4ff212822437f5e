package privacy

import (
	"math"
	"testing"

	"d3p/internal/privacy/noise"
)

// threadedEngine says how many threads it has; it opens nothing.
type threadedEngine struct {
	Engine
	threads int
}

func (e threadedEngine) Threads() int { return e.threads }

// The noise of a large sum has the bits of AddGaussian on any number of threads.
func TestNoiseOnThreads(t *testing.T) {
	for _, n := range []int{1, 100, manyNumbers - 1, manyNumbers, manyNumbers + 12345} {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Sin(float64(i))
		}
		want := append([]float64(nil), x...)
		s := noise.Insecure(4).Stream(noise.GradientNoise)
		s.Seek(7)
		s.AddGaussian(want, 1.3)
		for _, threads := range []int{1, 2, 3, 8} {
			g := newGaussian(noise.Insecure(4).Stream(noise.GradientNoise), threadedEngine{threads: threads})
			got := append([]float64(nil), x...)
			g.add(got, 7, 1.3)
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("n=%d, %d threads: element %d is %g, want %g", n, threads, i, got[i], want[i])
				}
			}
			if n > manyNumbers {
				if a := testing.AllocsPerRun(3, func() { g.add(got, 7, 1.3) }); a > 0 {
					t.Errorf("%d threads: %g allocations", threads, a)
				}
			}
			g.wipe()
		}
	}
}
