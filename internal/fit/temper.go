package fit

// temper shrinks the noisy likelihood gradient by κ = H/(H + τ²), which widens
// the guide to cover the privacy noise. H estimates the likelihood's curvature
// from released quantities alone, H = Σₜⱼ(−sⱼηⱼgⱼ)/Σₜⱼsⱼ², and
// τ² = (zC/q)²/(T/2) is the noise left in the mean gradient after averaging.
// Reference: design of the default, "noise-aware tempering".
type temper struct {
	start  int     // first tempered step, 0.3 T
	window float64 // T/2
	Num    float64 `json:"num"` // Σ −s·η·g
	Den    float64 `json:"den"` // Σ s²
}

// temperStart is the fraction of steps after which the estimate is used.
const temperStart = 0.3

func newTemper(steps int) temper {
	return temper{start: int(temperStart * float64(steps)), window: float64(steps) / 2}
}

// observe adds step t's released likelihood gradient g (P) at θ − m = shift (P)
// under marginal standard deviations sd (P).
func (k *temper) observe(g, shift, sd []float64) {
	for j := range g {
		k.Num -= shift[j] * g[j]
		k.Den += sd[j] * sd[j]
	}
}

// factor returns κ for step t, in [0, 1]; noiseSD is zC/q. A curvature
// estimate that is not positive means noise alone: κ = 0 leaves the prior.
func (k *temper) factor(t int, noiseSD float64) float64 {
	if t < k.start || noiseSD == 0 {
		return 1
	}
	h := k.Num / k.Den
	if !(h > 0) {
		return 0
	}
	return h / (h + noiseSD*noiseSD/k.window)
}
