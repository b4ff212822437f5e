package fit

import "d3p/internal/simd"

// average is the running mean of the iterates of the last steps (Polyak averaging). It
// costs no privacy, because all of them are released.
type average struct {
	start int       // first step included
	Count int       `json:"count"` // iterates so far
	Mean  []float64 `json:"mean"`  // shape (V)
}

// averageStart is floor((1 − fraction)·T). At fraction 0 the result is the last
// iterate.
func averageStart(fraction float64, steps int) int {
	return int((1 - fraction) * float64(steps))
}

func newAverage(start, size int) average {
	return average{start: start, Mean: make([]float64, size)}
}

// averages reports whether the iterate after step t is included.
func (a *average) averages(t int) bool { return t >= a.start }

// add includes lambda (V), as iterate number Count, in coordinates low <= j < high.
func (a *average) add(lambda []float64, low, high int, s *scratch) {
	w := 1 / float64(a.Count)
	for lo := low; lo < high; lo += chunk {
		hi := min(lo+chunk, high)
		mean, step := a.Mean[lo:hi], s[0][:hi-lo]
		simd.Sub(step, lambda[lo:hi], mean)
		simd.MulScalar(step, step, w)
		simd.Add(mean, mean, step)
	}
}
