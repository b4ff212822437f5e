package fit

import (
	"math"

	"d3p/internal/simd"
)

// Decay rates and stabiliser of Adam, as published and as used for every
// number in the reference tables.
const (
	adamBeta1   = 0.9
	adamBeta2   = 0.999
	adamEpsilon = 1e-8
)

// adam is Adam with bias correction: x += rate·m̂/(√v̂ + 1e-8).
// Kingma & Ba 2015, arXiv:1412.6980, algorithm 1.
type adam struct {
	first, second []float64 // running means of g and g², shape (V)
	unused        []float64 // gains that nobody asks for, shape (V)
}

func newAdam(size int) *adam {
	return &adam{first: make([]float64, size), second: make([]float64, size), unused: make([]float64, size)}
}

// Update implements Optimizer; gain = rate/(√v̂ + 1e-8).
func (o *adam) Update(x, g []float64, t int, rate float64, gain []float64) {
	step := simd.AdamStep{
		Beta1: adamBeta1, Beta2: adamBeta2,
		Correct1: 1 - math.Pow(adamBeta1, float64(t)), Correct2: 1 - math.Pow(adamBeta2, float64(t)),
		Epsilon: adamEpsilon, Rate: rate,
	}
	n := min(len(gain), len(g))
	step.Adam(x[:n], g[:n], o.first[:n], o.second[:n], gain[:n])
	step.Adam(x[n:len(g)], g[n:], o.first[n:], o.second[n:], o.unused[n:])
}

// Moments implements Optimizer.
func (o *adam) Moments() [][]float64 { return [][]float64{o.first, o.second} }
