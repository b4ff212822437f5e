package exactdraw

import "math"

// radius is how far from the prior's mean a draw can be. The mode φ* has |φ*|²/2 ≤
// U(0) ≤ records·(log 2 + slope·shift), for terms of weight at most 1; and p gives
// |φ − φ*| ≥ √d + t a probability below e^(−t²/2), 2^-738 for t = 32.
func radius(d, records int, slope, shift float64) float64 {
	return min(math.Sqrt(2*float64(records)*(math.Ln2+slope*shift))+math.Sqrt(float64(d))+32, 1<<15)
}

// Slack is a: a place is drawn with its probability times a factor within exp(±a), for a
// posterior of New with these arguments. It is linear in slope but for the radius. The
// errors are those of
//
//   - f: z has d + 1 products of at most slope·(radius + shift) together, once the weight is
//     counted, and f errs by 8 units of rounding of a number of at most that plus 1
//   - the sum, by 4 units of its size at most
//   - the probability of a proposal, 1e-10 for each dimension, and the bound of acceptance
//   - a cube, over which exp(−U) has the mean of its middle but for the square of a slope of
//     at most records·slope + radius
//
// and the factor of all probabilities, which doubles it.
func Slack(d, records int, slope, shift float64) float64 {
	const unit = 0x1p-53
	n, r := float64(records), radius(d, records, slope, shift)
	term := slope*(r+shift) + 1
	steep := (n*slope + r) * spacing
	a := n*term*unit*(float64(d)+16) + r*r*unit*float64(d+8) + 1e-10*float64(d) + 1e-12 + steep*steep/12
	return 2 * a
}

// Gaussian is the parameter μ of Gaussian differential privacy of a place that is drawn
// with a factor within exp(±slack), if an exact draw has mu. The probability of a set
// changes by at most that factor, and so does that of its complement. So its normal quantile
// changes by at most slack·min(p, 1 − p)/φ(Φ⁻¹(p)) ≤ slack·√(π/2), for each of two tables.
func Gaussian(mu, slack float64) float64 { return mu + 2*math.Sqrt(math.Pi/2)*slack }
