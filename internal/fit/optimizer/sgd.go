package optimizer

// sgd is gradient ascent with heavy-ball momentum β: u ← βu + g, x += rate·u.
// Polyak 1964; β = 0 is plain stochastic gradient ascent.
type sgd struct {
	velocity []float64 // u, shape (V)
	momentum float64   // β
}

func newSGD(size int, momentum float64) *sgd {
	return &sgd{velocity: make([]float64, size), momentum: momentum}
}

// Update implements Optimizer. Over many steps one unit of g moves x by
// rate·(1 + β + β² + ...), so gain = rate/(1 − β).
func (o *sgd) Update(u Update, low, high int) {
	for j := low; j < high; j++ {
		o.velocity[j] = o.momentum*o.velocity[j] + u.G[j]
		u.X[j] += u.Rate * o.velocity[j]
		if j < len(u.Gain) {
			u.Gain[j] = u.Rate / (1 - o.momentum)
		}
	}
}

// Moments implements Optimizer.
func (o *sgd) Moments() [][]float64 { return [][]float64{o.velocity} }
