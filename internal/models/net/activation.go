package net

import "d3p/internal/models/graph"

// function is one line of the table of activations, which act value by value.
type function struct {
	name  string
	apply func(b *graph.Builder, x *graph.Node) *graph.Node
}

// Activations lists the functions that a layer may apply to each of its values.
func Activations() (names []string) {
	for _, f := range functions() {
		names = append(names, f.name)
	}
	return names
}

// functions is the table of activations.
func functions() []function {
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

// activation is the step of an activation. Package spec accepts only those of the table.
func activation(name string) step {
	for _, f := range functions() {
		if f.name == name {
			return f.step
		}
	}
	panic("net: unknown activation " + name)
}
