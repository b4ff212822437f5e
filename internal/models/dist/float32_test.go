package dist

import (
	"math"
	"testing"

	"d3p/internal/models/graph"
)

// Tables are kept in float32 and everything else in float64, so what float32
// does to a density is what rounding its value does: nothing to levels and
// counts, which are exact, and to a number no more than its condition allows,
// |x f'(x)|·2⁻²⁴, for the log density and for every element of its gradient.
func TestFloat32(t *testing.T) {
	eachCase(t, func(t *testing.T, d *Distribution, p point) {
		b := graph.NewBuilder()
		var theta []float64
		args := p.nodes(b, d, func(name string, s graph.Shape, v []float64) *graph.Node {
			theta = append(theta, v...)
			return b.Param(name, s)
		})
		a := Apply(b, d, args)
		tape, err := graph.Compile(b, a.LogDensity(b, Observed{X: p.column(b, d)}), nil, graph.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := graph.NewMachine(tape, 1)
		m.Globals(theta, nil)
		at := func(x []float64) []float64 { // the log density, then its gradient
			m.Records(x, len(x), 1, nil)
			all := make([]float64, 1+tape.P)
			all[0] = m.Loss()[0]
			m.Gradient(0, all[1:])
			return all
		}
		const ulp = 1.0 / (1 << 24)
		exact := at(p.X.values)
		rounded := make([]float64, len(p.X.values))
		allowed := make([]float64, len(exact))
		for i := range allowed {
			allowed[i] = 1e-10 * (1 + math.Abs(exact[i]))
		}
		for i, x := range p.X.values {
			rounded[i] = float64(float32(x))
			if p.applied(b, d).Support().Discrete() {
				if rounded[i] != x {
					t.Fatalf("%g is not exact in float32", x)
				}
				continue
			}
			h := 4 * ulp * math.Abs(x)
			moved := append([]float64(nil), p.X.values...)
			for _, sign := range []float64{-1, 1} {
				moved[i] = x + sign*h
				for j, v := range at(moved) {
					allowed[j] += math.Abs(v - exact[j]) // four times what half a step changes, twice
				}
			}
		}
		for j, got := range at(rounded) {
			if !(math.Abs(got-exact[j]) <= allowed[j]) && !(math.IsInf(got, 0) && got == exact[j]) {
				t.Errorf("element %d at %v is %.12g in float32, %.12g in float64, allowed %.3g", j, p.X.values, got, exact[j], allowed[j])
			}
		}
	})
}
