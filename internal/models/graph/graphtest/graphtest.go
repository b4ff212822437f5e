// Package graphtest evaluates nodes, for tests.
package graphtest

import (
	"math"
	"testing"

	"d3p/internal/models/graph"
)

// Shape is the shape of n values of an event of the given rank.
func Shape(rank, n int) graph.Shape {
	switch rank {
	case 1:
		return graph.Shape{{Name: "k", Size: n}}
	case 2:
		root := int(math.Round(math.Sqrt(float64(n))))
		return graph.Shape{{Name: "k", Size: root}, {Name: "k'", Size: root}}
	}
	return nil
}

// Evaluate computes a node without parameters for B rows of the given number
// of columns; the result holds its elements in lanes.
func Evaluate(t *testing.T, b *graph.Builder, n *graph.Node, rows []float64, columns int) []float64 {
	t.Helper()
	return EvaluateAll(t, b, []*graph.Node{n}, rows, columns)[0]
}

// EvaluateAll is evaluate for several nodes, which share common parts. It processes the
// rows in pieces that fit into a cache.
func EvaluateAll(t *testing.T, b *graph.Builder, nodes []*graph.Node, rows []float64, columns int) [][]float64 {
	t.Helper()
	tape, err := graph.Compile(b, nil, nodes, graph.Options{Columns: columns})
	if err != nil {
		t.Fatal(err)
	}
	const piece = 512
	B := len(rows) / columns
	m := graph.NewMachine(tape, min(piece, B))
	m.Globals(nil, nil)
	all := make([][]float64, len(nodes))
	for i, n := range nodes {
		all[i] = make([]float64, n.Size()*B)
	}
	for first := 0; first < B; first += piece {
		size := min(piece, B-first)
		m.Records(rows[first*columns:], columns, size, nil)
		for i, n := range nodes {
			out := m.Output(i)
			stride := size
			if len(out) == n.Size() { // does not depend on the columns, or one row
				stride = 1
			}
			for e := range n.Size() {
				for r := range size {
					all[i][e*B+first+r] = out[e*stride+r%stride]
				}
			}
		}
	}
	return all
}

// Near reports whether got is want within tol, relative above 1.
func Near(got, want, tol float64) bool {
	return math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))
}
