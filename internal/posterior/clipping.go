package posterior

import (
	"math"

	"d3p/internal/simd"
)

// addClippedInformation adds weight·clip(g)·g (P) of a record's gradient g to sum.
// For a score g, E[clip(g)·g] is exactly −∂E[clip(g)]: E[clip(g)] = 0 at every
// truth, at the truth, is differentiated under the integral.
func addClippedInformation(sum, g []float64, clipNorm, weight float64) {
	weight *= clipFactor(g, clipNorm)
	for j, x := range g {
		sum[j] += weight * x * x
	}
}

// clipFactor is min(1, clipNorm/|g|).
func clipFactor(g []float64, clipNorm float64) float64 {
	norm := math.Sqrt(simd.Dot(g, g))
	if norm <= clipNorm {
		return 1
	}
	return clipNorm / norm
}
