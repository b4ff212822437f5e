package fit

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
func (o *sgd) Update(x, g []float64, _ int, rate float64, gain []float64) {
	for j, gj := range g {
		o.velocity[j] = o.momentum*o.velocity[j] + gj
		x[j] += rate * o.velocity[j]
		if j < len(gain) {
			gain[j] = rate / (1 - o.momentum)
		}
	}
}

// Moments implements Optimizer.
func (o *sgd) Moments() [][]float64 { return [][]float64{o.velocity} }
