package enginetest

import "d3p/internal/models/graph"

// Autoencoder is the loss of 784-400-2·50-400-784 with one draw of the code per record,
// on 784 columns, for timing engines.
func Autoencoder(b *graph.Builder) *graph.Node {
	x, h, z, k, o := graph.Dim{Name: "x", Size: 784}, graph.Dim{Name: "h", Size: 400}, graph.Dim{Name: "z", Size: 50}, graph.Dim{Name: "k", Size: 400}, graph.Dim{Name: "o", Size: 784}
	dense := func(name string, in *graph.Node, from, to graph.Dim) *graph.Node {
		return b.Add(b.MatMul(in, b.Param(name, graph.Shape{from, to})), b.Param(name+" bias", graph.Shape{to}))
	}
	image := b.Columns(0, x)
	hidden := b.Softplus(dense("encoder", image, x, h))
	loc, logSD := dense("loc", hidden, h, z), dense("scale", hidden, h, z)
	code := b.Add(loc, b.Mul(b.Exp(logSD), b.Aux("eta", graph.Shape{z}, true)))
	logits := b.Rename(dense("out", b.Softplus(dense("decoder", code, z, k)), k, o), "o", "x")
	kl := b.Mul(b.Const(0.5), b.Sum(b.Sub(b.Sub(b.Add(b.Square(loc), b.Exp(b.Mul(b.Const(2), logSD))), b.Const(1)), b.Mul(b.Const(2), logSD))))
	return b.Sub(b.Sum(b.Sub(b.Mul(image, logits), b.Softplus(logits))), kl)
}
