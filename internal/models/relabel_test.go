package models_test

import "testing"

const relabelModel = `core:
  dims: {k: 3, d: [y, z]}
  params:
    w: dirichlet(1) [k]
    mu: normal(0, 1) [k, d]
    sd: half_normal(1) [d]
    m: normal(0, 1) [k, k]
  let:
    far: mu @ sd
  rows:
    observe:
      d: mixture(w, normal(mu + far + m @ w, sd), over=k)
output: {relabel: {order_by: mu, dim: z}}
`

// Components are renamed so that mu[., z] rises: every parameter and quantity
// with an entry by component follows, in each of its dims, and no other.
func TestRelabel(t *testing.T) {
	m := compile(t, dataBlock(0, "y: {type: real, lower: -5, upper: 5}", "z: {type: real, lower: -5, upper: 5}")+relabelModel)
	r := m.Relabelling()
	values := []float64{
		0.2, 0.3, 0.5, // w
		1, 30, 2, 10, 3, 20, // mu
		7, 8, // sd
		11, 12, 13, 21, 22, 23, 31, 32, 33, // m
	}
	quantities := []float64{100, 200, 300}
	r.Apply(values, quantities)
	compare(t, "parameters", values, []float64{
		0.3, 0.5, 0.2,
		2, 10, 3, 20, 1, 30,
		7, 8,
		22, 23, 21, 32, 33, 31, 12, 13, 11,
	})
	compare(t, "quantities", quantities, []float64{200, 300, 100})
	if !r.Moves("w") || !r.Moves("far") || r.Moves("sd") {
		t.Error("w and far have entries by component, sd has none")
	}
	if n := testing.AllocsPerRun(10, func() { r.Apply(values, quantities) }); n > 0 {
		t.Errorf("%g allocations per draw", n)
	}
}
