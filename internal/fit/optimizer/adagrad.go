package optimizer

import "math"

// adagrad divides by the root of the sum of squared gradients:
// x += rate·g/(√Σg² + 1e-8). Duchi, Hazan & Singer 2011, JMLR 12, 2121-2159.
type adagrad struct {
	sum []float64 // Σ g² so far, shape (V)
}

func newAdagrad(size int) *adagrad { return &adagrad{sum: make([]float64, size)} }

// Update implements Optimizer.
func (o *adagrad) Update(u Update, low, high int) {
	for j := low; j < high; j++ {
		o.sum[j] += u.G[j] * u.G[j]
		a := u.Rate / (math.Sqrt(o.sum[j]) + epsilon)
		u.X[j] += a * u.G[j]
		if j < len(u.Gain) {
			u.Gain[j] = a
		}
	}
}

// Moments implements Optimizer.
func (o *adagrad) Moments() [][]float64 { return [][]float64{o.sum} }
