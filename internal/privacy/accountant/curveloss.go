package accountant

import "math"

// Loss is a privacy loss that outcomes exceed with probability at most delta; +Inf if the
// curve shows none. It is the smallest t with δ(ε) <= (1 - e^(ε-t)) delta for some ε < t,
// as δ(ε) >= E(1 - e^(ε-L))⁺ >= (1 - e^(ε-t)) P(L > t). The loss may exceed ε(delta) more
// often: that of a Gaussian of μ = 0.268 exceeds ε(1e-5) = 1 with probability 1.6e-4.
// Meiser 2018, eprint 2018/277.
func (c *Curve) Loss(delta float64) float64 {
	least := math.Inf(1)
	for _, k := range c.knots {
		worst := 0.0
		for _, d := range k.delta {
			worst = math.Max(worst, d)
		}
		if worst < delta {
			least = math.Min(least, k.epsilon-math.Log1p(-worst/delta))
		}
	}
	return least
}
