package fit

import (
	"math"

	"d3p/internal/simd"
)

// The standard deviation of the log of a coordinate's information over what invented
// records have, before any is measured. Declarations say how many records there are,
// for a level too, within about a factor of 2. The information on a coefficient goes
// with the square of its column's spread, too, which they say but roughly.
const ratioSpread, coefficientSpread = 0.7, 1.0

// information is Σ clip(g)·g (P) of records with the pattern's gradients: what so
// many records tell of every coordinate when gradients are clipped at clipNorm. For
// a score g that is exactly −∂E[clip(g)]: E[clip(g)] = 0 at every truth, at the
// truth, is differentiated under the integral.
func (q pattern) information(clipNorm float64, records int) []float64 {
	out := make([]float64, q.latent)
	for r := range q.records {
		addInformation(out, q.row(r), clipNorm, float64(records)/float64(q.records))
	}
	return out
}

// addInformation adds weight·clip(g)·g (P) of a record's gradient g to sum.
func addInformation(sum, g []float64, clipNorm, weight float64) {
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

// clipNorm is the root mean square of C over the steps, weighted as the curvature
// weighs their noise: noise of sd zC/q was added to each.
func (l *Loop) clipNorm() float64 {
	t := float64(l.state.Step)
	weights := t * (t + 1) * (2*t + 1) / 6 // Σ w², w = 1, ..., T
	return math.Sqrt(l.state.Curvature.Totals[1]/weights) * l.plan.SamplingRate / l.plan.GradientNoise
}

// ratio is the estimate of h of coordinate j and its variance, in units of what is
// expected, see unit.
func (c *curvature) ratio(j int) (h, v float64) {
	h, v = c.estimate(j)
	unit := c.unit(j)
	return h / unit, v / (unit * unit)
}

// unit is the expected information of coordinate j; 1 where none is known.
func (c *curvature) unit(j int) float64 {
	if c.isExpected(j) {
		return c.expected[j]
	}
	return 1
}

// spread is the standard deviation of the log of the ratio of coordinate j.
func (c *curvature) spread(j int) float64 {
	if c.coefficients[j] {
		return coefficientSpread
	}
	return ratioSpread
}

func (c *curvature) isExpected(j int) bool { return c.expected != nil && c.expected[j] > 0 }

// believedRatio is mean and variance of a ratio r whose logarithm is N(0,
// spread²) and which was measured as x with variance v: under noise h may be
// measured as ten times what so many records can tell, or as nothing.
func believedRatio(x, v, spread float64) (mean, variance float64) {
	prior := 1 / (spread * spread)
	if x > 0 && v < 0.01*x*x { // then so is its logarithm, with variance v/x²
		precision := prior + x*x/v
		mean = math.Exp(math.Log(x) * (x * x / v) / precision)
		return mean, mean * mean / precision
	}
	const points, reach = 81, 4.0
	var logs, ratios [points]float64
	top := math.Inf(-1)
	for i := range ratios {
		z := reach * (2*float64(i)/(points-1) - 1)
		ratios[i] = math.Exp(spread * z)
		logs[i] = -z*z/2 - (x-ratios[i])*(x-ratios[i])/(2*v)
		top = math.Max(top, logs[i])
	}
	var mass, first, second float64
	for i, r := range ratios {
		p := math.Exp(logs[i] - top)
		mass, first, second = mass+p, first+p*r, second+p*r*r
	}
	mean = first / mass
	return mean, second/mass - mean*mean
}
