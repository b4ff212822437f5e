package fit

import (
	"fmt"

	"d3p/internal/models/graph"
)

// gradientSumsTape is gradientSums as nodes of a graph: the arrays in their order,
// and a step's weights w and u.
type gradientSumsTape struct {
	totals                                  [4]*graph.Node // scalars: none waits for another
	likelihood, prior, square, noise, place *graph.Node
	likelihoodSlope, priorSlope, gain       *graph.Node
	weight, settled                         *graph.Node
}

func newGradientSumsTape(b *graph.Builder, p graph.Shape) *gradientSumsTape {
	var totals [4]*graph.Node
	for k := range totals {
		totals[k] = b.Param(fmt.Sprint("curvature total ", k), nil)
	}
	return &gradientSumsTape{
		totals:     totals,
		likelihood: b.Param("curvature likelihood", p), prior: b.Param("curvature prior", p),
		square: b.Param("curvature square", p), noise: b.Param("curvature noise", p), place: b.Param("curvature place", p),
		likelihoodSlope: b.Param("curvature likelihood slope", p), priorSlope: b.Param("curvature prior slope", p),
		gain: b.Param("curvature gain", p),
	}
}

// addGradientSums is gradientSums.observe and addGain: the next arrays.
func (x *leaves) addGradientSums(likelihood, prior, gain, noiseSD *graph.Node) []*graph.Node {
	b, c := x.b, x.sums
	d, w, u := x.shift(), c.weight, c.settled
	theta := b.Add(d, x.value[0])
	w2 := b.Square(b.Mul(w, noiseSD))
	return []*graph.Node{
		b.Add(c.totals[0], u), b.Add(c.totals[1], b.Square(b.Mul(u, noiseSD))),
		b.Add(c.totals[2], b.Mul(u, x.clipNorm)), b.Add(c.totals[3], b.Mul(u, b.Square(x.clipNorm))),
		b.Add(c.likelihood, b.Neg(b.Mul(w, b.Mul(d, likelihood)))), b.Add(c.prior, b.Neg(b.Mul(w, b.Mul(d, prior)))),
		b.Add(c.square, b.Mul(w, b.Square(d))), b.Add(c.noise, b.Mul(w2, b.Square(d))), b.Add(c.place, b.Mul(u, theta)),
		b.Add(c.likelihoodSlope, b.Mul(u, likelihood)), b.Add(c.priorSlope, b.Mul(u, prior)),
		b.Add(c.gain, b.Mul(x.averaging, gain)),
	}
}
