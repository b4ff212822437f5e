package outputs

import (
	"slices"

	"d3p/internal/models"
	"d3p/internal/posterior"
)

// sharedNumbers is the largest number of unconstrained numbers for which the noise share of
// derived quantities is computed. It takes two evaluations for each.
const sharedNumbers = 300

// shareDerived sets the noise share of the variables that are functions of several
// unconstrained numbers theta. To first order the privacy noise adds to variable v the
// variance of sum_j (dv/dtheta_j) theta_j; the share is that part of the draws' variance.
func (d *Draws) shareDerived(m *models.Model, p *posterior.Posterior) {
	if m.P > sharedNumbers || d.S < 2 {
		return
	}
	slopes := d.slopes(m, p)
	for v := range d.Variables {
		if d.Variables[v].NoiseShare != nil {
			continue
		}
		if _, variance := meanVariance(d.Of(v)); variance > 0 {
			share := min(1, p.NoiseVariance(slopes[v*m.P:(v+1)*m.P])/variance)
			d.Variables[v].NoiseShare = &share
		}
	}
}

// slopes are dv/dtheta_j at the mean, [len(Variables) x P].
func (d *Draws) slopes(m *models.Model, p *posterior.Posterior) []float64 {
	out := make([]float64, len(d.Variables)*m.P)
	above, below := make([]float64, len(d.Variables)), make([]float64, len(d.Variables))
	theta := slices.Clone(p.Mean)
	sd := make([]float64, m.P)
	p.SD(sd)
	for j := range theta {
		step := sd[j] / 100
		if !(step > 0) {
			continue
		}
		theta[j] = p.Mean[j] + step
		d.Constrain(m, above, theta)
		theta[j] = p.Mean[j] - step
		d.Constrain(m, below, theta)
		theta[j] = p.Mean[j]
		for v := range d.Variables {
			out[v*m.P+j] = (above[v] - below[v]) / (2 * step)
		}
	}
	return out
}

// meanVariance returns the mean and the sample variance of x, two numbers or more.
func meanVariance(x []float64) (mean, variance float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / (n - 1)
	}
	return mean, variance
}
