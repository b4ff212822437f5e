package dpvi2017

import (
	"math"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/noise"
)

const mixture = `d3p: 1
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 2}
  columns:
    x1: {type: real, lower: -6, upper: 6, scale: {center: 0, by: 1}}
    x2: {type: real, lower: -6, upper: 6, scale: {center: 0, by: 1}}
core:
  dims: {k: 5, d: [x1, x2]}
  params:
    pis: dirichlet(1) [k]
    mus: normal(0, 1) [k, d]
    sigs: inverse_gamma(1, 1) [k]
  rows:
    observe:
      d: mixture(pis, normal(mus, sigs), over=k)
`

// A record moves the sum of a step by at most C, whatever its values and λ; with a clip norm in
// reach of it, by that.
func TestClips(t *testing.T) {
	m := modelstest.Compile(t, "gmm.yaml", mixture)
	d := New(m, [][]float64{{0, 1}, {2, -1}})
	p := d.model.P
	lambda, with, without := make([]float64, 2*p), make([]float64, 2*p), make([]float64, 2*p)
	for k := range 20 {
		rng := noise.NewRandom(noise.Public(uint64(k)).Stream(noise.Simulation))
		for j := range lambda {
			lambda[j] = rng.Normal()
		}
		at := func(dst, batch []float64) {
			d.gradient(dst, lambda, batch, noise.NewRandom(noise.Public(uint64(k+100)).Stream(noise.Simulation)))
		}
		at(without, nil)
		at(with, []float64{6, -6})
		length := 0.0
		for j := range with {
			length += (with[j] - without[j]) * (with[j] - without[j])
		}
		if length = math.Sqrt(length) * rate; length > clipNorm*(1+1e-12) || length < clipNorm/10 {
			t.Errorf("λ %d: a record moves the sum by %g, the clip norm is %g", k, length, clipNorm)
		}
	}
}
