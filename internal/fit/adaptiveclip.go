package fit

import (
	"math"

	"d3p/internal/fit/plan"
)

// adaptiveClip moves the clip norm C so that a target fraction γ of the records' gradients
// stays unclipped, by geometric steps on a noisy count. Andrew et al. 2021,
// arXiv:1905.03871, count relative to ½ instead and divide by the number of records. With
// that, a wrong number, or the varying size of a Poisson batch, would look like a wrong
// fraction.
type adaptiveClip struct {
	rate     float64 // η_C
	expected float64 // qN, the public expected batch size
	most     float64 // of C
}

// next returns the clip norm after clipNorm, given count = Σ (1[|g| ≤ C] − γ)
// over the batch, plus noise:
//
//	C ← C·exp(−η_C count/(qN)).
func (a adaptiveClip) next(clipNorm, count float64) float64 {
	clipNorm *= math.Exp(-a.rate * count / a.expected)
	return math.Min(math.Max(clipNorm, plan.MinClipNorm), a.most)
}
