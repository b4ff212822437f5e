package optimizer

import (
	"math"

	"d3p/internal/simd"
)

// Decay rates and stabiliser of Adam as published.
const (
	beta1   = 0.9
	beta2   = 0.999
	epsilon = 1e-8
)

// Adam is Adam with bias correction: x += rate·m̂/(√v̂ + 1e-8).
// Kingma & Ba 2015, arXiv:1412.6980, algorithm 1. AdamTape is the same step as a
// graph.
type Adam struct {
	first, second []float64 // running means of g and g², shape (V)
}

func newAdam(size int) *Adam {
	return &Adam{first: make([]float64, size), second: make([]float64, size)}
}

// AdamCorrections are the bias corrections 1 − βᵗ of both running means in step t
// (from 1).
func AdamCorrections(t int) (first, second float64) {
	return 1 - math.Pow(beta1, float64(t)), 1 - math.Pow(beta2, float64(t))
}

// Update implements Optimizer; gain = rate/(√v̂ + 1e-8).
func (o *Adam) Update(u Update, low, high int) {
	step := simd.AdamStep{Beta1: beta1, Beta2: beta2, Epsilon: epsilon, Rate: u.Rate}
	step.Correct1, step.Correct2 = AdamCorrections(u.T)
	n := max(low, min(len(u.Gain), high)) // no caller reads gains beyond len(Gain)
	step.AdamGain(u.X[low:n], u.G[low:n], o.first[low:n], o.second[low:n], u.Gain[min(low, len(u.Gain)):])
	step.Adam(u.X[n:high], u.G[n:high], o.first[n:high], o.second[n:high])
}

// Moments implements Optimizer.
func (o *Adam) Moments() [][]float64 { return [][]float64{o.first, o.second} }

// Adopt makes first and second (V) the memory of the running means.
func (o *Adam) Adopt(first, second []float64) { o.first, o.second = first, second }
