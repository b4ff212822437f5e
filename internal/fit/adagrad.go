package fit

import "math"

// adagrad divides by the root of the sum of squared gradients:
// x += rate·g/(√Σg² + 1e-8). Duchi, Hazan & Singer 2011, JMLR 12, 2121-2159.
type adagrad struct {
	sum []float64 // Σ g² so far, shape (V)
}

func newAdagrad(size int) *adagrad { return &adagrad{sum: make([]float64, size)} }

// Update implements Optimizer.
func (o *adagrad) Update(x, g []float64, _ int, rate float64, gain []float64) {
	for j, gj := range g {
		o.sum[j] += gj * gj
		a := rate / (math.Sqrt(o.sum[j]) + adamEpsilon)
		x[j] += a * gj
		if j < len(gain) {
			gain[j] = a
		}
	}
}

// Moments implements Optimizer.
func (o *adagrad) Moments() [][]float64 { return [][]float64{o.sum} }
