package fit

import "d3p/internal/privacy/noise"

// StartingPoint is the location at which a fit of the plan starts, for tests.
func StartingPoint(p *Plan) []float64 {
	m0 := make([]float64, p.Latent)
	startWeights(m0, p.model, noise.Public(p.InitSeed).Stream(noise.Initialisation))
	return m0
}
