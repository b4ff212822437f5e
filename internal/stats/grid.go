package stats

import (
	"math"
	"slices"
)

// GridMoments is the mean and the variance of a distribution on the points x, whose
// probabilities are proportional to exp(log).
func GridMoments(x, log []float64) (mean, variance float64) {
	top := slices.Max(log)
	var mass, first, second float64
	for i, x := range x {
		p := math.Exp(log[i] - top)
		mass, first, second = mass+p, first+p*x, second+p*x*x
	}
	mean = first / mass
	return mean, second/mass - mean*mean
}
