package modelstest

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
