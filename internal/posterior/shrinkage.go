package posterior

import (
	"math"

	"d3p/internal/stats"
)

// ratioSpread is the standard deviation of the log of a coordinate's information, over that
// of simulated records, before any is measured: about a factor of 2.
const ratioSpread = 0.7

// ratio is the estimate of h of coordinate j and its variance, in units of the
// expected information (unit).
func (c *curvature) ratio(j int) (h, v float64) {
	h, v = c.estimate(j)
	unit := c.unit(j)
	return h / unit, v / (unit * unit)
}

// unit is the expected information of coordinate j; 1 where it is unknown.
func (c *curvature) unit(j int) float64 {
	if c.isExpected(j) {
		return c.expected[j]
	}
	return 1
}

func (c *curvature) isExpected(j int) bool { return c.expected != nil && c.expected[j] > 0 }

// shrunkRatio is the posterior mean and variance of a ratio r with log r ~ N(0,
// spread²), measured as x with variance v. The noise may measure h as ten times
// what N records can tell, or as nothing.
func shrunkRatio(x, v, spread float64) (mean, variance float64) {
	prior := 1 / (spread * spread)
	if x > 0 && v < 0.01*x*x { // then log r is measured, too, with variance v/x²
		precision := prior + x*x/v
		mean = math.Exp(math.Log(x) * (x * x / v) / precision)
		return mean, mean * mean / precision
	}
	const points, reach = 81, 4.0
	var logs, ratios [points]float64
	for i := range ratios {
		z := reach * (2*float64(i)/(points-1) - 1)
		ratios[i] = math.Exp(spread * z)
		logs[i] = -z*z/2 - (x-ratios[i])*(x-ratios[i])/(2*v)
	}
	return stats.GridMoments(ratios[:], logs[:])
}
