package posterior

import (
	"math"

	"d3p/internal/models/guide"
)

// factorRow is row j of NoiseFactor, j + 1 numbers.
func (p *Posterior) factorRow(j int) []float64 {
	start := j * (j + 1) / 2
	return p.NoiseFactor[start : start+j+1]
}

// addNoise adds a draw of the privacy noise to theta (P), made of the standard
// normals extra (P). Draws of a sample contain it.
func (p *Posterior) addNoise(theta, extra []float64) {
	if _, contained := p.Guide.(guide.Sample); contained {
		return
	}
	for j, v := range p.VarDP {
		if p.NoiseFactor == nil {
			theta[j] += math.Sqrt(v) * extra[j]
			continue
		}
		for k, x := range p.factorRow(j) {
			theta[j] += x * extra[k]
		}
	}
}

// NoiseVariance is the variance that the privacy noise gives Σ slope_j θ_j, slope
// of shape (P).
func (p *Posterior) NoiseVariance(slope []float64) float64 {
	sum := 0.0
	if p.NoiseFactor == nil {
		for j, s := range slope {
			sum += s * s * p.VarDP[j]
		}
		return sum
	}
	push := make([]float64, len(slope)) // Fᵀ slope
	for j, s := range slope {
		for k, x := range p.factorRow(j) {
			push[k] += s * x
		}
	}
	for _, x := range push {
		sum += x * x
	}
	return sum
}
