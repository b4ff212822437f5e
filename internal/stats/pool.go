package stats

import "math"

// Pool is the mean of estimates x with these variances, its variance, and the variance of what they estimate between
// each other, by the random-effects estimate of DerSimonian and Laird 1986, doi:10.1016/0197-2456(86)90046-2.
func Pool(x, variances []float64) (mean, ofMean, between float64) {
	var weights, squares, sum float64 // of w = 1/v: Σ w, Σ w², Σ w·x
	for j, v := range variances {
		weights, squares, sum = weights+1/v, squares+1/(v*v), sum+x[j]/v
	}
	mean = sum / weights
	spread := 0.0
	for j, v := range variances {
		spread += (x[j] - mean) * (x[j] - mean) / v
	}
	if n := len(x); n > 1 {
		between = math.Max(0, (spread-float64(n-1))/(weights-squares/weights))
	}
	weights, sum = 0, 0
	for j, v := range variances {
		weights, sum = weights+1/(v+between), sum+x[j]/(v+between)
	}
	return sum / weights, 1 / weights, between
}

// Shrink moves estimates x with these variances towards the mean of Pool: to their posterior means given all of them. The
// variances become those of the posterior.
func Shrink(x, variances []float64) {
	if len(x) < 2 {
		return
	}
	mean, ofMean, between := Pool(x, variances)
	for j, v := range variances {
		own := between / (between + v) // the weight of the estimate itself
		x[j], variances[j] = mean+(x[j]-mean)*own, v*own+(1-own)*(1-own)*ofMean
	}
}
