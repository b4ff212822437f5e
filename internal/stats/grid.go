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

// GridQuantiles are `count` evenly spread quantiles of a distribution on equal cells about the
// points x, whose probabilities are proportional to exp(log).
func GridQuantiles(x, log []float64, count int) []float64 {
	top, mass := slices.Max(log), 0.0
	cumulative := make([]float64, len(log))
	for i, l := range log {
		mass += math.Exp(l - top)
		cumulative[i] = mass
	}
	list, width, k, below := make([]float64, count), x[1]-x[0], 0, 0.0
	for i := range list {
		target := (float64(i) + 0.5) / float64(count) * mass
		for k < len(x)-1 && cumulative[k] < target {
			below = cumulative[k]
			k++
		}
		list[i] = x[k] + width*((target-below)/(cumulative[k]-below)-0.5)
	}
	return list
}
