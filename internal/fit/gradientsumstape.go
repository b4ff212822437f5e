package fit

import "d3p/internal/models/graph"

// gradientSumsTape is gradientSums as nodes of a graph: the arrays in their order,
// and a step's weight.
type gradientSumsTape struct {
	totals, likelihood, prior, square, noise, place *graph.Node
	likelihoodSlope, priorSlope, gain               *graph.Node
	weight                                          *graph.Node
}

func newGradientSumsTape(b *graph.Builder, p graph.Shape) *gradientSumsTape {
	return &gradientSumsTape{
		totals:     b.Param("curvature totals", graph.Shape{{Name: "total", Size: 2}}),
		likelihood: b.Param("curvature likelihood", p), prior: b.Param("curvature prior", p),
		square: b.Param("curvature square", p), noise: b.Param("curvature noise", p), place: b.Param("curvature place", p),
		likelihoodSlope: b.Param("curvature likelihood slope", p), priorSlope: b.Param("curvature prior slope", p),
		gain: b.Param("curvature gain", p),
	}
}

// addGradientSums is gradientSums.observe and addGain: the next arrays.
func (x *leaves) addGradientSums(likelihood, prior, gain, noiseSD *graph.Node) []*graph.Node {
	b, c := x.b, x.sums
	d, w := x.shift(), c.weight
	theta := b.Add(d, x.value[0])
	w2 := b.Square(b.Mul(w, noiseSD))
	return []*graph.Node{
		b.Add(c.totals, b.Stack(graph.Dim{Name: "total", Size: 2}, w, w2)),
		b.Add(c.likelihood, b.Neg(b.Mul(w, b.Mul(d, likelihood)))), b.Add(c.prior, b.Neg(b.Mul(w, b.Mul(d, prior)))),
		b.Add(c.square, b.Mul(w, b.Square(d))), b.Add(c.noise, b.Mul(w2, b.Square(d))), b.Add(c.place, b.Mul(w, theta)),
		b.Add(c.likelihoodSlope, b.Mul(w, likelihood)), b.Add(c.priorSlope, b.Mul(w, prior)),
		b.Add(c.gain, b.Mul(x.averaging, gain)),
	}
}
