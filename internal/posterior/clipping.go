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

// sandwichRecords is the number of simulated records of samplingRatio.
const sandwichRecords = 4000

// samplingRatio (P) compares the variance that the sampling of records gives a
// released gradient with its information: E[clip(g)²]/E[clip(g)·s], over gradients g
// at the parameters at and scores s at truth of records simulated at truth. It is 1
// for a score that is not clipped, whose variance is its information. Clipped
// gradients have less: where nearly all are clipped, only their directions vary.
// It is the middle of the sandwich H⁻¹JH⁻¹, the variance of an estimate that solves
// Σ clip(g) = 0 (Huber 1967). It is 1 where no simulated record has a gradient.
func (s simulation) samplingRatio(truth, at []float64, clipNorm float64) []float64 {
	p, count := s.model.P, 0.0
	sum, square, cross := make([]float64, p), make([]float64, p), make([]float64, p)
	s.eachRecord(truth, at, sandwichRecords, func(g, score []float64) {
		count++
		factor := clipFactor(g, clipNorm)
		for j, x := range g {
			sum[j] += factor * x
			square[j] += factor * x * factor * x
			cross[j] += factor * x * score[j]
		}
	})
	ratio := make([]float64, p)
	for j := range ratio {
		ratio[j] = 1
		if variance := square[j] - sum[j]*sum[j]/count; variance > 0 && cross[j] > 0 {
			ratio[j] = variance / cross[j]
		}
	}
	return ratio
}
