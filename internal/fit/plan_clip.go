package fit

import "math"

// countNoiseRatio is σ_b/σ: with it the gradient's noise grows by 3.3 %.
const countNoiseRatio = 2

// splitNoise divides one release of noise multiplier σ between the gradient sum
// (sensitivity C) and, when clipping is adaptive, the count Σ (1[|g| ≤ C] − ½)
// (sensitivity ½), and sets the rate η_C at which the clip norm follows it.
// Scaled by their sensitivities the two are one Gaussian release:
//
//	σ⁻² = z⁻² + (2σ_b)⁻², σ_b = 2σ, η_C = .2 min(1, qN/(5σ_b)).
func splitNoise(p *Plan) {
	p.GradientNoise, p.CountNoise, p.ClipRate = p.NoiseMultiplier, 0, 0
	if p.Clipping != ClippingAdaptive {
		return
	}
	sigma := p.NoiseMultiplier
	p.CountNoise = countNoiseRatio * sigma
	p.GradientNoise = 1 / math.Sqrt(1/(sigma*sigma)-1/(4*p.CountNoise*p.CountNoise))
	p.ClipRate = 0.2 * math.Min(1, p.SamplingRate*float64(p.Records)/(5*p.CountNoise))
}
