package verdict

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"d3p/internal/outputs"
)

const (
	noiseMost = 0.95 // of the posterior variance
	noiseMuch = 0.5
)

// OfNoise is the verdict that a share of the privacy noise in the variance allows.
func OfNoise(share float64) outputs.Verdict {
	value := graded(share, noiseMuch, noiseMost)
	if value == outputs.Resolved {
		return outputs.Verdict{Value: value}
	}
	return outputs.Verdict{Value: value, Why: fmt.Sprintf("%.0f %% of the variance is privacy noise", 100*share)}
}

// besideNoise is the verdict on variable v by its share of noise.
func (d *judged) besideNoise(v int) outputs.Verdict {
	if share := d.Variables[v].NoiseShare; share != nil {
		return OfNoise(*share)
	}
	return outputs.Verdict{}
}

// leastNoise is a share of the variance below any that a fit with noise can have. What makes a
// covariance positive definite adds a billionth.
const leastNoise = 1e-8

// leavesNoiseOut reports whether the posterior of d does not contain the privacy noise: no share of
// it is more than rounding. An intercept of many records may have as little, and so has a fit that
// takes them for fewer: their number tells, if it is known.
func leavesNoiseOut(d *outputs.Draws, known Known) bool {
	least, shares := leastNoise, false
	if known.UsableSD != 0 && !known.moreThanDeclared() {
		least = 0
	}
	for _, v := range d.Variables {
		if v.NoiseShare != nil && *v.NoiseShare > least {
			return false
		}
		shares = shares || v.NoiseShare != nil
	}
	return shares
}

// besideNoInterval is the verdict on variable v if it is a point, or if the posterior leaves the noise out.
func (d *judged) besideNoInterval(v int) (verdict outputs.Verdict) {
	switch {
	case d.isPoint(v):
		return worse(verdict, outputs.Not, "a point has no interval: fit with another guide than delta")
	case d.blind:
		return worse(verdict, outputs.Not, "its interval leaves the privacy noise out: fit without --noise-aware none, --compat d3p or a custom guide, and declare as many rows as there are")
	}
	return verdict
}

// isPoint reports whether all draws of variable v are one number that the fit found, not a
// constant of the model.
func (d *judged) isPoint(v int) bool {
	mean, variance := stat.MeanVariance(d.Of(v), nil)
	s := outputs.Summary{Mean: mean, SD: math.Sqrt(variance)}
	return s.SD <= 1e-9*math.Abs(mean) && !s.Fixed()
}
