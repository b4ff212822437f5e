package fit

import "d3p/internal/privacy/noise"

// StartingPoint is the location at which a fit of the plan starts, for tests.
func StartingPoint(p *Plan) []float64 {
	m0 := make([]float64, p.Latent)
	startWeights(m0, p.model, noise.Public(p.InitSeed).Stream(noise.Initialisation))
	return m0
}

// Residuals is a regression line with an unknown residual sd.
const Residuals = `d3p: 1
name: residuals
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    u: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}}
    y: {type: real, lower: -20, upper: 20, scale: {center: 0, by: 1}}
model:
  formula: y ~ 1 + u
  family: normal
  priors:
    Intercept: normal(0, 1)
    b: normal(0, 1)
    sigma: half_normal(1)
`
