package models

import (
	"testing"

	"d3p/internal/models/data"
	"d3p/internal/models/graph"
	"d3p/internal/models/graph/graphtest"
	"d3p/internal/models/source"
)

// A declared transform is the same function on the graph as in the encoder.
func TestTransforms(t *testing.T) {
	for _, tr := range data.Transforms {
		b := graph.NewBuilder()
		g := &build{b: b}
		n := g.transformed(&data.Column{Transform: source.Value[string]{V: tr.Name}}, b.Column(0))
		if got, want := graphtest.Evaluate(t, b, n, []float64{0.3}, 1)[0], tr.Apply(0.3); !graphtest.Near(got, want, 1e-15) {
			t.Errorf("%s(0.3) = %.17g on the graph, %.17g encoded", tr.Name, got, want)
		}
	}
}
