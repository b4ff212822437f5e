package support

import "d3p/internal/models/graph"

// triangle fills matrices from the elements of a lower triangle, row by row; strict leaves
// out the diagonal. weight(i, j, p, q) is the weight of element (p, q) of the triangle in
// element (i, j) of the matrix.
func triangle(b *graph.Builder, x *graph.Node, event graph.Shape, strict bool, weight func(i, j, p, q int) float64) *graph.Node {
	free, d := LastDim(x), event[0].Size
	cells := graph.Dim{Name: "cells(" + event[0].Name + ")", Size: d * d}
	w := make([]float64, free.Size*cells.Size)
	row := 0
	eachLower(d, strict, func(p, q int) {
		for i := range d {
			for j := range d {
				w[row*cells.Size+i*d+j] = weight(i, j, p, q)
			}
		}
		row++
	})
	flat := b.MatMul(x, b.Consts(graph.Shape{free, cells}, w))
	batch := x.Shape()[:max(0, len(x.Shape())-1)]
	return b.Reshape(flat, append(batch[:len(batch):len(batch)], event...))
}

// eachLower visits the lower triangle of a d×d matrix row by row.
func eachLower(d int, strict bool, visit func(i, j int)) {
	for i := range d {
		for j := 0; j < i || j == i && !strict; j++ {
			visit(i, j)
		}
	}
}

// unitMatrix is the identity matrix of the event.
func unitMatrix(b *graph.Builder, event graph.Shape) *graph.Node {
	d := event[0].Size
	v := make([]float64, d*d)
	for i := range d {
		v[i*(d+1)] = 1
	}
	return b.Consts(event, v)
}
