package fit

import "math"

// Bounds of the adaptive clip norm: a guard against overflow, far outside any
// useful value.
const (
	minClipNorm = 1e-6
	maxClipNorm = 1e6
)

// adaptiveClip moves the clip norm C so that a target fraction of the records'
// gradients stays unclipped, by geometric steps on a noisy count.
// Andrew et al. 2021, arXiv:1905.03871.
type adaptiveClip struct {
	target   float64 // quantile γ
	rate     float64 // η_C
	expected float64 // qN, the public expected batch size
}

// next returns the clip norm after clipNorm, given count = Σ (1[|g| ≤ C] − ½)
// over the batch, plus noise. The sum is of ±½ and not of 0/1 because that
// halves its sensitivity:
//
//	b̄ = count/(qN) + ½,  C ← C·exp(−η_C (b̄ − γ)).
func (a adaptiveClip) next(clipNorm, count float64) float64 {
	fraction := count/a.expected + 0.5
	clipNorm *= math.Exp(-a.rate * (fraction - a.target))
	return math.Min(math.Max(clipNorm, minClipNorm), maxClipNorm)
}
