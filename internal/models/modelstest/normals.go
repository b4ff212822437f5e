package modelstest

// Normals is the format of a model with a number of means, whose sum is the mean of a normal
// column.
const Normals = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    y: {type: real, lower: -20, upper: 20, scale: {center: 0, by: 1}}
core:
  dims: {k: %d}
  params: {mean: "normal(0, 1) [k]"}
  rows:
    observe: {y: "normal(sum(mean), 1)"}
`
