package fit

// adamW is Adam with decoupled weight decay: x ← x − rate·decay·x, then Adam.
// Loshchilov & Hutter 2019, arXiv:1711.05101, algorithm 2.
type adamW struct {
	adam
	decay float64
}

func newAdamW(size int, decay float64) *adamW {
	return &adamW{adam: *newAdam(size), decay: decay}
}

// Update implements Optimizer.
func (o *adamW) Update(x, g []float64, t int, rate float64, gain []float64) {
	for j := range g {
		x[j] -= rate * o.decay * x[j]
	}
	o.adam.Update(x, g, t, rate, gain)
}
