package dist

import (
	"math"
	"testing"

	"d3p/internal/models/dist/counts"
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
)

// A probability behind its inverse link has finite log densities and gradients
// where it rounds to 0 or 1, and those of the link's own tail.
func TestLinksInTheTails(t *testing.T) {
	links := map[string]struct {
		inverse func(b *graph.Builder, eta *graph.Node) *graph.Node
		// log p and log(1-p) at eta.
		want func(eta float64) (p, q float64)
		eta  []float64
	}{
		"logit": {(*graph.Builder).Sigmoid, func(eta float64) (float64, float64) {
			return -math.Max(0, -eta) - math.Log1p(math.Exp(-math.Abs(eta))), -math.Max(0, eta) - math.Log1p(math.Exp(-math.Abs(eta)))
		}, []float64{-800, -40, 1, 40, 800}},
		"probit": {(*graph.Builder).NormalCDF, func(eta float64) (float64, float64) {
			// Mills' ratio below -30: φ/|η| (1 - 1/η² + 3/η⁴).
			mills := func(x float64) float64 {
				return -x*x/2 - math.Log(math.Abs(x)) - family.HalfLog2Pi + math.Log1p(-1/(x*x)+3/(x*x*x*x))
			}
			if eta < 0 {
				return mills(eta), -math.Exp(mills(eta))
			}
			return -math.Exp(mills(eta)), mills(eta)
		}, []float64{-300, -40, 40, 300}},
		"cloglog": {func(b *graph.Builder, eta *graph.Node) *graph.Node {
			return b.Neg(b.Expm1(b.Neg(b.Exp(eta))))
		}, func(eta float64) (float64, float64) {
			e := math.Exp(eta)
			return math.Log(-math.Expm1(-e)), -e
		}, []float64{-600, -40, 0, 2, 5}},
	}
	for name, link := range links {
		for _, eta := range link.eta {
			for _, y := range []float64{0, 1} {
				b := graph.NewBuilder()
				probs := link.inverse(b, b.Param("eta", nil))
				loss := Apply(b, &counts.Bernoulli, []*graph.Node{probs, nil}).LogDensity(b, Observed{X: b.Column(0)})
				tape, err := graph.Compile(b, loss, nil, graph.Options{})
				if err != nil {
					t.Fatal(err)
				}
				m := graph.NewMachine(tape, 1)
				m.Globals([]float64{eta}, nil)
				m.Records([]float64{y}, 1, 1, nil)
				var gradient [1]float64
				m.Gradient(0, gradient[:])
				want, other := link.want(eta)
				if y == 0 {
					want = other
				}
				if got := m.Loss()[0]; math.Abs(got-want) > 1e-6*math.Abs(want)+1e-14 || math.IsNaN(gradient[0]) || math.IsInf(gradient[0], 0) {
					t.Errorf("%s, eta = %g, y = %g: log density %g, want %g, gradient %g", name, eta, y, got, want, gradient[0])
				}
			}
		}
	}
}
