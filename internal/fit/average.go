package fit

import "d3p/internal/simd"

// average is the running mean of the iterates of the last steps (Polyak
// averaging): all of them are released, so their mean costs nothing.
type average struct {
	start int       // first step included
	Count int       `json:"count"` // iterates so far
	Mean  []float64 `json:"mean"`  // shape (V)

	scratch []float64 // a block
}

// averageStart is floor((1 − fraction)·T). For fraction 0 nothing is averaged,
// and the result is the last iterate.
func averageStart(fraction float64, steps int) int {
	return int((1 - fraction) * float64(steps))
}

func newAverage(start, size int) average {
	return average{start: start, Mean: make([]float64, size), scratch: make([]float64, block)}
}

// averages reports whether the iterate after step t is included.
func (a *average) averages(t int) bool { return t >= a.start }

// add includes lambda (V) as the iterate after step t.
func (a *average) add(t int, lambda []float64) {
	if !a.averages(t) {
		return
	}
	a.Count++
	w := 1 / float64(a.Count)
	for lo := 0; lo < len(lambda); lo += block {
		hi := min(lo+block, len(lambda))
		mean, step := a.Mean[lo:hi], a.scratch[:hi-lo]
		simd.Sub(step, lambda[lo:hi], mean)
		simd.MulScalar(step, step, w)
		simd.Add(mean, mean, step)
	}
}
