package graph_test

import (
	"fmt"

	"d3p/internal/models/graph"
)

// The log density of records y ~ Normal(θ, 1), up to a constant: each record's
// gradient is y − θ.
func Example() {
	b := graph.NewBuilder()
	theta, y := b.Param("theta", nil), b.Column(0)
	loss := b.Mul(b.Const(-0.5), b.Square(b.Sub(y, theta)))
	tape, err := graph.Compile(b, loss, nil, graph.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}

	m := graph.NewMachine(tape, 2)
	m.Globals([]float64{1}, nil)            // θ = 1
	m.Records([]float64{3, 0.5}, 1, 2, nil) // two records of one column
	gradient := make([]float64, 1)
	for r := range 2 {
		m.Gradient(r, gradient)
		fmt.Println(m.Loss()[r], gradient)
	}
	// Output:
	// -2 [2]
	// -0.125 [-0.5]
}
