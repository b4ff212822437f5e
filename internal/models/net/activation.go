package net

import "d3p/internal/models/graph"

// function is one line of the table of activations, which act value by value.
type function struct {
	name  string
	apply func(b *graph.Builder, x *graph.Node) *graph.Node
}

// activations is the table of activations, those of package spec.
func activations() []function {
	return []function{
		{"relu", (*graph.Builder).Relu},
		{"softplus", (*graph.Builder).Softplus},
		{"tanh", (*graph.Builder).Tanh},
		{"gelu", (*graph.Builder).Gelu},
		{"silu", func(b *graph.Builder, x *graph.Node) *graph.Node { return b.Mul(x, b.Sigmoid(x)) }},
		{"sigmoid", (*graph.Builder).Sigmoid},
		{"exp", (*graph.Builder).Exp},
		{"identity", func(_ *graph.Builder, x *graph.Node) *graph.Node { return x }},
	}
}

func (f function) step(b *graph.Builder, x *graph.Node, _ *Call) *graph.Node {
	return f.apply(b, x)
}

// activation is the step of an activation; package spec admits only those of
// the table.
func activation(name string) step {
	for _, f := range activations() {
		if f.name == name {
			return f.step
		}
	}
	panic("net: unknown activation " + name)
}
