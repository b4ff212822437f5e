package main

import (
	"math"

	release "d3p/internal/score"
)

// binaryMetrics scores probabilities p of y = 1: accuracy at one half, area
// under the ROC curve (ties count half) and mean log predictive density.
func binaryMetrics(p, y []float64) map[string]float64 {
	var right, logp float64
	for i := range p {
		if (p[i] > 0.5) == (y[i] == 1) {
			right++
		}
		q := p[i]
		if y[i] == 0 {
			q = 1 - q
		}
		logp += math.Log(math.Max(q, 1e-12))
	}
	n := float64(len(p))
	return map[string]float64{"acc": right / n, "auc": auc(p, y), "tll": logp / n}
}

// auc is the area under the ROC curve of scores of y = 1.
func auc(p, y []float64) float64 { return release.AUC(p, func(i int) bool { return y[i] == 1 }) }

// rmse is the root mean squared difference of two vectors.
func rmse(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum / float64(len(a)))
}

// meanSE returns the mean of xs and its standard error.
func meanSE(xs []float64) (mean, se float64) {
	for _, x := range xs {
		mean += x
	}
	n := float64(len(xs))
	mean /= n
	for _, x := range xs {
		se += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(se / math.Max(n-1, 1) / n)
}
