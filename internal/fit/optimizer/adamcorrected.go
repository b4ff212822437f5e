package optimizer

import "math"

// adamCorrected is Adam without the privacy noise's part τ² of the mean of squared
// gradients, so that its steps have the sizes that they would have without the noise:
// v ← 0.999 v + 0.001 (g² − τ²), x += rate·m̂/√max(v̂, (τ/5)²). Tang, Shpilevskiy and
// Lécuyer 2024, arXiv:2312.14334, algorithm 1, with the floor in units of the noise.
type adamCorrected struct{ Adam }

func newAdamCorrected(size int) *adamCorrected { return &adamCorrected{*newAdam(size)} }

// Update implements Optimizer; gain = rate/√max(v̂, (τ/5)²).
func (o *adamCorrected) Update(u Update, low, high int) {
	correct1, correct2 := AdamCorrections(u.T)
	noise := u.NoiseSD * u.NoiseSD
	for j := low; j < high; j++ {
		g := u.G[j]
		o.first[j] = beta1*o.first[j] + (1-beta1)*g
		o.second[j] = beta2*o.second[j] + (1-beta2)*(g*g-noise)
		gain := u.Rate / (math.Sqrt(math.Max(o.second[j]/correct2, noise/25)) + epsilon)
		u.X[j] += gain * o.first[j] / correct1
		if j < len(u.Gain) {
			u.Gain[j] = gain
		}
	}
}
