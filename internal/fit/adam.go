package fit

import "math"

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
}

func newAdam(size int) *adam {
	return &adam{first: make([]float64, size), second: make([]float64, size)}
}

// Update implements Optimizer; gain = rate/(√v̂ + 1e-8).
func (o *adam) Update(x, g []float64, t int, rate float64, gain []float64) {
	correct1 := 1 - math.Pow(adamBeta1, float64(t))
	correct2 := 1 - math.Pow(adamBeta2, float64(t))
	for j, gj := range g {
		m := adamBeta1*o.first[j] + (1-adamBeta1)*gj
		v := adamBeta2*o.second[j] + (1-adamBeta2)*gj*gj
		o.first[j], o.second[j] = m, v
		a := rate / (math.Sqrt(v/correct2) + adamEpsilon)
		x[j] += a * m / correct1
		if j < len(gain) {
			gain[j] = a
		}
	}
}

// Moments implements Optimizer.
func (o *adam) Moments() [][]float64 { return [][]float64{o.first, o.second} }
