package accountant

import (
	"fmt"
	"math"

	"d3p/internal/privacy/event"
)

// Groups of vectors that one query releases together, each with its own noise,
// cost as much as one Gaussian release. McMahan, Andrew, Erlingsson, Chien,
// Mironov, Papernot, Kairouz 2018, arXiv:1812.06210.

// VectorGroup is one of the vectors of a query.
type VectorGroup struct {
	// Clip: with separate clipping, the L2 norm S_g to which a record's vector
	// is clipped; with joint clipping, the scale α_g by which it is divided
	// before all vectors together are clipped.
	Clip float64
	// NoiseStd is the standard deviation of the noise on every coordinate of
	// the sum, in the units of the vector.
	NoiseStd float64
}

// SeparateClipping is the one Gaussian release that groups, each clipped by
// itself, are equivalent to: 1/z² = Σ S_g²/σ_g².
func SeparateClipping(groups []VectorGroup) (event.Gaussian, error) {
	if err := checkGroups(groups); err != nil {
		return event.Gaussian{}, err
	}
	sum := 0.0
	for _, g := range groups {
		mu := g.Clip / g.NoiseStd
		sum += mu * mu
	}
	return event.Gaussian{NoiseMultiplier: 1 / math.Sqrt(sum)}, nil
}

// JointClipping is the one Gaussian release that groups, divided by their
// scales and clipped together to L2 norm `norm`, are equivalent to:
// 1/z = norm max_g α_g/σ_g, reached by a record with only that group.
func JointClipping(norm float64, groups []VectorGroup) (event.Gaussian, error) {
	if !(norm > 0) || math.IsInf(norm, 1) {
		return event.Gaussian{}, &InputError{Name: "joint clip norm", Value: norm, Want: "a finite number > 0"}
	}
	if err := checkGroups(groups); err != nil {
		return event.Gaussian{}, err
	}
	most := 0.0
	for _, g := range groups {
		most = math.Max(most, g.Clip/g.NoiseStd)
	}
	return event.Gaussian{NoiseMultiplier: 1 / (norm * most)}, nil
}

func checkGroups(groups []VectorGroup) error {
	if len(groups) == 0 {
		return &UnsupportedError{What: "vector groups", Why: "there is none"}
	}
	for i, g := range groups {
		if !(g.Clip > 0) || math.IsInf(g.Clip, 1) {
			return &InputError{Name: fmt.Sprintf("clip of group %d", i+1), Value: g.Clip, Want: "a finite number > 0"}
		}
		if !(g.NoiseStd > 0) || math.IsInf(g.NoiseStd, 1) {
			return &InputError{Name: fmt.Sprintf("noise of group %d", i+1), Value: g.NoiseStd, Want: "a finite number > 0"}
		}
	}
	return nil
}

// ProportionalNoise spreads the cost of noise multiplier z evenly over
// separately clipped groups: σ_g = z √m S_g for m groups.
func ProportionalNoise(z float64, clips []float64) []float64 {
	std := make([]float64, len(clips))
	for i, s := range clips {
		std[i] = z * math.Sqrt(float64(len(clips))) * s
	}
	return std
}

// DimensionAdjustedNoise spreads the cost of noise multiplier z over
// separately clipped groups of dims[g] coordinates so that the norm of a
// group's noise is the same multiple of its clip norm everywhere:
// σ_g = z √(D/d_g) S_g with D = Σ d_g.
func DimensionAdjustedNoise(z float64, clips []float64, dims []int) []float64 {
	if len(dims) != len(clips) {
		panic(fmt.Sprintf("accountant: %d dims for %d clips", len(dims), len(clips)))
	}
	total := 0
	for _, d := range dims {
		total += d
	}
	std := make([]float64, len(clips))
	for i, s := range clips {
		std[i] = z * math.Sqrt(float64(total)/float64(dims[i])) * s
	}
	return std
}
