package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkLogisticRegression is one full-batch gradient by the reference
// machine: N = 3341 records of D = 8 columns.
func BenchmarkLogisticRegression(b *testing.B) {
	const N, D = 3341, 8
	g := NewBuilder()
	d := Dim{"coef", D}
	loss := bernoulli(g, g.Column(D), g.MatMul(g.Columns(0, d), g.Param("beta", Shape{d})))
	tape, err := Compile(g, loss, nil, Options{GradientOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	theta, data := randomPoint(rand.New(rand.NewPCG(1, 1)), tape.P, D, 2, N)
	m := NewMachine(tape, N)
	grad, scale := make([]float64, tape.P), make([]float64, N)
	b.ReportAllocs()
	for b.Loop() {
		m.Globals(theta, nil)
		m.Records(data.Rows, data.Stride, N, nil)
		for r := range scale {
			scale[r] = min(1, 1/m.SquaredNorm(r))
		}
		m.AddGradients(scale, grad)
	}
	b.ReportMetric(float64(N)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkPrior is the gradient of normal priors on 30 parameters and the
// Jacobians of 3 scales, as the fit loop takes it in every step.
func BenchmarkPrior(b *testing.B) {
	g := NewBuilder()
	beta, sd := g.Param("beta", Shape{{"coef", 30}}), g.Param("sd", Shape{{"re", 3}})
	loss := g.AddAll(normalPrior(g, beta, 2.5), normalPrior(g, g.Exp(sd), 1), g.Sum(sd))
	tape, err := Compile(g, loss, nil, Options{})
	if err != nil {
		b.Fatal(err)
	}
	m := NewMachine(tape, 1)
	theta, grad := make([]float64, tape.P), make([]float64, tape.P)
	b.ReportAllocs()
	for b.Loop() {
		m.Globals(theta, nil)
		m.GlobalGradient(grad)
	}
}

// BenchmarkCompile builds and compiles a model of 200 lines: 40 parameters,
// 100 deterministic expressions and 60 observed columns.
func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		g := NewBuilder()
		k := Dim{"k", 10}
		lets := []*Node{g.Columns(0, k)}
		for i := range 20 {
			lets = append(lets, g.Param(fmt.Sprint("w", i), Shape{k}), g.Exp(g.Param(fmt.Sprint("s", i), nil)))
		}
		for i := range 100 {
			x, y := lets[i*7%len(lets)], lets[i*13%len(lets)]
			lets = append(lets, g.Tanh(g.Add(g.Mul(x, y), g.Softplus(lets[i]))))
		}
		loss := g.Const(0)
		for i := range 60 {
			z := g.Div(g.Sub(g.Column(10+i), g.Mean(lets[len(lets)-1-i])), lets[2+2*(i%20)])
			loss = g.Add(loss, g.Sub(g.Mul(g.Const(-0.5), g.Square(z)), g.Log(lets[2+2*(i%20)])))
		}
		if _, err := Compile(g, loss, nil, Options{GradientOnly: true}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompileAutoencoder builds and compiles the variational autoencoder
// 784-400-50-400-784, 697 000 weights, with one draw of the code per record.
func BenchmarkCompileAutoencoder(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		g := NewBuilder()
		x, h, z, k, o := Dim{"x", 784}, Dim{"h", 400}, Dim{"z", 50}, Dim{"k", 400}, Dim{"o", 784}
		dense := func(name string, in *Node, from, to Dim) *Node {
			return g.Add(g.MatMul(in, g.Param(name, Shape{from, to})), g.Param(name+" bias", Shape{to}))
		}
		image := g.Columns(0, x)
		hidden := g.Softplus(dense("encoder", image, x, h))
		loc, logsd := dense("loc", hidden, h, z), dense("scale", hidden, h, z)
		code := g.Add(loc, g.Mul(g.Exp(logsd), g.Aux("eta", Shape{z}, true)))
		logits := g.Rename(dense("out", g.Softplus(dense("decoder", code, z, k)), k, o), "o", "x")
		kl := g.Mul(g.Const(0.5), g.Sum(g.Sub(g.Sub(g.Add(g.Square(loc), g.Exp(g.Mul(g.Const(2), logsd))), g.Const(1)), g.Mul(g.Const(2), logsd))))
		loss := g.Sub(g.Sum(g.Sub(g.Mul(image, logits), g.Softplus(logits))), kl)
		tape, err := Compile(g, loss, nil, Options{GradientOnly: true})
		if err != nil {
			b.Fatal(err)
		}
		for _, t := range tape.Terms {
			if t.Kind == TermDense && t.Cols > 784 || len(tape.Notes) > 0 {
				b.Fatalf("a weight matrix is materialised\n%v", tape)
			}
		}
	}
}
