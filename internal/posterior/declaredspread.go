package posterior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
	"d3p/internal/models/law"
	"d3p/internal/stats"
)

// The records' information about a coefficient differs from that of simulated records. The
// log of the ratio is a mixture of two normals. Its standard deviation is spreadRight for most
// columns, and spreadWrong for the share shareWrong of columns whose declared law is wrong. A
// bought law is right.
const spreadRight, spreadWrong, shareWrong = 0.1, 1.0, 0.15

// slopeFactors are how much steeper f is in each coordinate than the moments have it,
// by what the released gradients show: log factors, with variances, both (P).
type slopeFactors struct{ log, variance []float64 }

// measuredFactors compares the curvature h that the fit's steps show with the slope of
// the moments in the coordinates of coefficients: h is the factor times the slope
// with noise of variance v.
func measuredFactors(sums GradientSums, x moments, coefficients []bool, batches float64, bought bool, laws lawRatios) slopeFactors {
	wrong := shareWrong
	if bought {
		wrong = 0
	}
	p := len(x.point)
	out := slopeFactors{make([]float64, p), make([]float64, p)}
	for j, is := range coefficients {
		if expected := x.slope.At(j, j); is && expected > 0 && sums.Square[j] > 0 {
			unit := sums.Square[j] * expected
			known := math.Exp(laws.log(j))
			unit *= known
			log, variance := logFactor(sums.Likelihood[j]/unit, sums.curvatureNoise(j, expected*known, batches)/(unit*unit), wrong, laws.spread(j, spreadRight))
			out.log[j], out.variance[j] = log+laws.log(j), variance
		}
	}
	return out
}

// logFactor is the posterior mean and variance of l, wrong with that probability and else with the standard deviation
// right, given a measurement of e^l with variance v.
func logFactor(measured, v, wrong, right float64) (mean, variance float64) {
	const points, reach = 801, 6.0
	var at, log [points]float64
	for i := range at {
		z := reach * (2*float64(i)/(points-1) - 1)
		at[i] = spreadWrong * z
		off, x := measured-math.Exp(at[i]), at[i]/right
		prior := (1-wrong)/right*math.Exp(-x*x/2) + wrong/spreadWrong*math.Exp(-z*z/2)
		log[i] = math.Log(prior) - off*off/(2*v)
	}
	return stats.GridMoments(at[:], log[:])
}

// scale multiplies the information in each coordinate by its factor, as wider columns do;
// gradients and scores grow by the root of the factor. The uncertainty of the factors adds
// to the variance of f, in proportion to the posterior's covariance.
func (x *moments) scale(by slopeFactors, covariance *mat.SymDense) {
	p := len(x.point)
	root := make([]float64, p)
	for j, l := range by.log {
		root[j] = math.Exp(l / 2)
		x.mean[j] *= root[j]
	}
	for i := range p {
		for j := range p {
			x.slope.Set(i, j, x.slope.At(i, j)*root[i]*root[j])
		}
		for j := range i + 1 {
			x.variance.SetSym(i, j, x.variance.At(i, j)*root[i]*root[j])
		}
	}
	for j, v := range by.variance {
		slope := x.slope.At(j, j)
		x.variance.SetSym(j, j, x.variance.At(j, j)+v*slope*slope*covariance.At(j, j))
	}
}

// shareNarrow is the probability that a column is narrower than its declared scale, boundsNarrow
// that it is narrower than the bounds that its scale is left to. Then the log of the ratio is
// anything down to leastLogRatio: a column 150 times narrower.
const shareNarrow, boundsNarrow, leastLogRatio = 0.05, 0.5, -10.0

// wrongShare is the probability that a predictor of m is narrower than its law.
func wrongShare(m *models.Model, l *law.Law) float64 {
	wrong := 0.0
	if l.Bought() {
		return wrong
	}
	for _, name := range m.Given() {
		switch c := m.Spec.Data.Column(name); {
		case !c.Numeric():
		case c.By.IsSet():
			wrong = max(wrong, shareNarrow)
		default:
			wrong = boundsNarrow
		}
	}
	return wrong
}

// wandering is the variance of the mean place of a random walk, as GradientSums weigh it, over
// that of the sum of its steps' gains times the mean gradient's noise: 0.42 for weights t in the
// last four fifths.
const wandering = 0.42

// atBound is the probability that all records of a column whose scale is left to its bounds are near
// one of them, as those of a count are. Then the curvature and the place of its coefficient are the
// intercept's, and its prior is all that is known.
const atBound = 0.9

// byBounds reports of each parameter of m (P) whether it is the coefficient of a column whose scale is
// left to its bounds.
func byBounds(m *models.Model) []bool {
	list := make([]bool, m.P)
	for _, p := range m.LinearPredictors() {
		for i, label := range p.Coefficients.Dims[0].Labels {
			factors, _ := m.Spec.Data.Factors(label)
			for _, x := range factors {
				for e := range p.Effects {
					list[p.At(i, e)] = list[p.At(i, e)] || x.Column.Numeric() && !x.Missing && !x.Column.By.IsSet()
				}
			}
		}
	}
	return list
}

// narrower is the share of a coordinate's information that it keeps where columns are constant,
// below which it is a coefficient of one.
const narrower = 0.5

// unresolved is the variance of coordinate j that has this variance if its column is as wide as
// its law, where with probability c.wrong it is narrower: a normal with it has the 90 % interval
// of all that the column may be. A fit with the information H goes the
// part 1 − exp(−GH) of the way from its start to the truth, G the sum of the optimizer's gains,
// and noise takes it anywhere within s of that. So for a prior of mean m and precision λ the
// information H = r·unit has the likelihood
//
//	N(x; r, v) N(θ̄; m, (1 − exp(−GH))²/λ + s²)
//
// of the measured curvature x and the mean place θ̄. Under a prior much wider than s, a fit that
// stays near its start is evidence of a narrow column, and then the posterior is the prior.
func (c *curvature) unresolved(j int, lambda, variance float64) float64 {
	if c.wrong > 0 && c.byBounds[j] && lambda > 0 {
		return mixtureVariance([]float64{variance, max(variance, 1/lambda)}, []float64{math.Log(1 - atBound), math.Log(atBound)})
	}
	if c.wrong == 0 || !c.isExpected(j) || c.constant == nil || !(lambda > 0) {
		return variance
	}
	least := c.constant[j] / c.expected[j]
	if !(least < narrower) {
		return variance
	}
	reach := max(math.Log(least), leastLogRatio)
	x, v := c.ratio(j)
	gain, noise, off := c.Gain[j]/c.averaging, c.noiseVariance(), c.PriorSlope[j]/c.Totals[0]/lambda
	const points, spacing, most = 185, 0.07, 4 * ratioSpread
	var variances, logs []float64
	for i := range points {
		log := most - spacing*float64(i)
		h := math.Exp(log) * c.expected[j]
		way := math.Expm1(-gain * h)
		square := way*way/lambda + wandering*gain*gain*noise
		likelihood := -math.Pow(x-math.Exp(log), 2)/(2*v) - off*off/(2*square) - math.Log(square)/2
		z := log / ratioSpread
		right := (1 - c.wrong) / (ratioSpread * math.Sqrt(2*math.Pi))
		variances, logs = append(variances, variance), append(logs, likelihood+math.Log(right)-z*z/2)
		if log < 0 && log > reach {
			variances = append(variances, 1/(lambda+h*h/(h*c.sampling(j)+noise)))
			logs = append(logs, likelihood+math.Log(c.wrong/-reach))
		}
	}
	return max(mixtureVariance(variances, logs), variance)
}

// ofCenter is the variance, in declared scales, of the center of a column whose scale is left to its
// bounds: that of a place at one of them.
const ofCenter = 3.0

// eachCenter calls use for each column whose scale is left to its bounds, because the center of such a
// column is not known. The level of a linear predictor is that at the declared centers, so its variance
// along direction (P) grows by the variance of the center times the coefficient's mean square. square is
// the mean square of a coordinate.
func eachCenter(m *models.Model, square func(k int) float64, use func(variance float64, direction []float64)) {
	for _, p := range m.LinearPredictors() {
		for i, label := range p.Coefficients.Dims[0].Labels {
			if c := m.Spec.Data.Column(label); c == nil || !c.Numeric() || c.By.IsSet() {
				continue
			}
			for e := range p.Effects {
				direction := make([]float64, m.P)
				p.Shift(direction, e, 1)
				use(ofCenter*square(p.At(i, e)), direction)
			}
		}
	}
}

// mixtureVariance is the variance of the normal that has the 90 % interval of a mixture of normals
// about 0 with these variances, whose probabilities are proportional to exp(log).
func mixtureVariance(variances, log []float64) float64 {
	const outside, of90 = 0.1, 1.6449
	top := slices.Max(log)
	beyond := func(reach float64) float64 { // the probability
		mass, out := 0.0, 0.0
		for i, v := range variances {
			p := math.Exp(log[i] - top)
			mass, out = mass+p, out+p*math.Erfc(reach/math.Sqrt(2*v))
		}
		return out / mass
	}
	low, high := of90*math.Sqrt(slices.Min(variances)), of90*math.Sqrt(slices.Max(variances))
	for range 40 {
		if middle := (low + high) / 2; beyond(middle) > outside {
			low = middle
		} else {
			high = middle
		}
	}
	return high * high / (of90 * of90)
}
