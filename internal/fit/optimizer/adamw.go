package optimizer

// adamW is Adam with decoupled weight decay: x ← x − rate·decay·x, then Adam.
// Loshchilov & Hutter 2019, arXiv:1711.05101, algorithm 2.
type adamW struct {
	Adam
	decay float64
}

func newAdamW(size int, decay float64) *adamW {
	return &adamW{Adam: *newAdam(size), decay: decay}
}

// Update implements Optimizer.
func (o *adamW) Update(u Update, low, high int) {
	for j := low; j < high; j++ {
		u.X[j] -= u.Rate * o.decay * u.X[j]
	}
	o.Adam.Update(u, low, high)
}
