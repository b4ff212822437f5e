package main

import (
	"math"
	"sort"
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

// auc is the Mann-Whitney statistic of the ranks of the positives.
func auc(p, y []float64) float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(a, b int) bool { return p[order[a]] < p[order[b]] })
	var rankSum, positives float64
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && p[order[j]] == p[order[i]] {
			j++
		}
		rank := float64(i+j+1) / 2 // mean of the ranks i+1..j
		for ; i < j; i++ {
			if y[order[i]] == 1 {
				rankSum += rank
				positives++
			}
		}
	}
	negatives := float64(len(p)) - positives
	return (rankSum - positives*(positives+1)/2) / (positives * negatives)
}

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
