package formula

import (
	"math"
	"slices"

	"d3p/internal/models/naming"
)

// Start is a start of the fit from the response's law and its linear regression:
// unconstrained numbers of parameters, the slopes of the linear predictor, and the
// predictor's unit.
type Start struct {
	Origin map[string]float64 // by parameter
	Slopes []float64          // of columns that have variance 1 and do not correlate
	Unit   float64
}

// minResidual is the smallest share of a response's variance that its residuals keep,
// because the explained share is not exact.
const minResidual = 0.01

// Regress returns the mean and the standard deviation of values, one per record, and their covariances
// with columns of variance 1 without correlation.
type Regress func(values []float64) (mean, sd float64, covariances []float64)

// Response is a response under a law: values, one per record, as the family observes them, the offsets of
// their linear predictors, their declared scale By, and the share Known of censored times that are known; 1 for others.
type Response struct {
	Values, Offsets []float64
	By, Known       float64
}

// StartFor is the placement of a response. Noise hides the share least of the records. The mean of an outcome or of a
// count is no smaller, because a fit that starts far below it clips what the records tell to nothing.
// If the columns are normal, the slopes of a linear predictor behind a link are
// proportional to the covariances (Stein's identity; Brillinger 1982).
func (m *Model) StartFor(y Response, least float64, regress Regress) Start {
	at := Start{Origin: make(map[string]float64), Unit: 1}
	f := FamilyOf(m.Family.V)
	if link := f.Link(m.Link.V); link.positive || link != &f.links[0] {
		return at
	}
	if f.relative || f.Intervals {
		if m.Terms.Event.IsSet() {
			y.placeTimes(f, &at, regress)
		}
		return at
	}
	exposure, values := 0.0, slices.Clone(y.Values)
	for i, o := range y.Offsets {
		exposure += math.Exp(o) / float64(len(values))
		if f.scaled {
			values[i] -= o
		}
	}
	mean, sd, covariances := regress(values)
	offset, _, byOffset := regress(y.Offsets)
	slope := 0.0 // of the linear predictor, by the response's
	switch {
	case f.scaled && sd > 0:
		explained := 0.0
		for _, c := range covariances {
			explained += c * c
		}
		at.Unit = math.Sqrt(math.Max(sd*sd-explained, minResidual*sd*sd))
		at.Origin[naming.Intercept], at.Origin[naming.Sigma] = mean, math.Log(at.Unit)
		slope, byOffset = 1, make([]float64, len(covariances))
	case f.Name == "bernoulli":
		least = min(least, 0.5)
		mean = min(max(mean, least), 1-least)
		if mean <= 0 || mean >= 1 {
			return at
		}
		at.Origin[naming.Intercept] = math.Log(mean/(1-mean)) - offset
		slope = 1 / (mean * (1 - mean))
	case f.counts && f.Name != "binomial" && max(mean, least) > 0 && exposure > 0:
		mean = max(mean, least)
		at.Origin[naming.Intercept] = math.Log(mean / exposure)
		slope = 1 / mean
	default:
		return at
	}
	for j, c := range covariances {
		at.Slopes = append(at.Slopes, slope*c-byOffset[j])
	}
	return at
}

// placeTimes places the level of censored times by their logarithm. If few of them are known, that shows how long
// records were observed: the times themselves are longer.
func (y Response) placeTimes(f *family, at *Start, regress Regress) {
	level, sign := naming.Intercept, 1.0
	switch {
	case f.Intervals:
		level, sign = naming.Baseline, -1 // of a log hazard
	case f.Name == "gompertz":
		sign = -1
	}
	predictors := make([]float64, len(y.Values))
	for i, v := range y.Values {
		predictors[i] = sign*math.Log(v/(y.By*y.Known)) - y.Offsets[i]
	}
	if mean, _, _ := regress(predictors); !math.IsNaN(mean) && !math.IsInf(mean, 0) {
		at.Origin[level] = mean
	}
}

// Cutpoints sets dst (K) to the cutpoints at which a logistic variable has each of K + 1 levels with its share.
func Cutpoints(dst, shares []float64) {
	below, all := 0.0, 0.0
	for _, share := range shares {
		all += share
	}
	for k := range dst {
		below += shares[k]
		dst[k] = math.Log(below / (all - below))
	}
}
