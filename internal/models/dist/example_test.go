package dist_test

import (
	"fmt"

	"d3p/internal/models/dist"
	"d3p/internal/models/graph"
)

// A distribution is an expression of the graph: its density and the density's
// gradient come from the same lines.
func Example() {
	poisson, _ := dist.Lookup("poisson")
	b := graph.NewBuilder()
	rate, count := b.Param("rate", nil), b.Column(0)
	loss := poisson.LogDensity(b, count, []*graph.Node{rate, nil}) // nil: no log_rate
	tape, err := graph.Compile(b, loss, nil, graph.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}

	m := graph.NewMachine(tape, 1)
	m.Globals([]float64{2}, nil)
	m.Records([]float64{3}, 1, 1, nil)
	gradient := make([]float64, 1)
	m.Gradient(0, gradient)
	fmt.Printf("log P(3 | rate 2) = %.4f, its derivative = %.4f\n", m.Loss()[0], gradient[0])
	// Output:
	// log P(3 | rate 2) = -1.7123, its derivative = 0.5000
}
