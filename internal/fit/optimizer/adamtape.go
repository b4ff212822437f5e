package optimizer

import "d3p/internal/models/graph"

// AdamTape is a step of Adam as nodes of a graph, for engines that take many steps in one
// call. It does the operations of Adam.Update in the same order; a test compares the two.
type AdamTape struct {
	Value, First, Second     *graph.Node // x, and the running means of g and g²
	Rate, Correct1, Correct2 *graph.Node // learning rate and AdamCorrections
}

// Next returns x and the running means after a step along grad, and the gain.
func (a AdamTape) Next(b *graph.Builder, grad *graph.Node) (value, first, second, gain *graph.Node) {
	first = b.Add(b.Mul(b.Const(beta1), a.First), b.Mul(b.Const(1-beta1), grad))
	second = b.Add(b.Mul(b.Const(beta2), a.Second), b.Mul(b.Mul(b.Const(1-beta2), grad), grad))
	gain = b.Div(a.Rate, b.Add(b.Sqrt(b.Div(second, a.Correct2)), b.Const(epsilon)))
	return b.Add(a.Value, b.Div(b.Mul(gain, first), a.Correct1)), first, second, gain
}
