package net

import "d3p/internal/models/graph"

// An Operation is a layer of a call that other formats have as a whole. The nodes between
// In and Out compute the same.
type Operation struct {
	Kind Operator
	In   *graph.Node // [channel, positions]
	Out  *graph.Node // the same order, without the bias of filters; of cells [position, output] or [output]

	Channels int    // of In
	Axes     []Axis // of filters and pools
	Filters  *graph.Node

	Cells    [][]Cell // of recurrent layers: for each layer one, or one of each direction
	Units    int
	Sequence bool        // all positions, not the last
	Length   *graph.Node // number of positions that belong to the record; nil: all
}

// Operator names the kind of an Operation.
type Operator string

// The operators of filters and pools. Those of cells have the names of their layers.
const (
	Convolution Operator = "convolution"
	Transposed  Operator = "transposed"
	LargestPool Operator = "max_pool"
	MeanPool    Operator = "avg_pool"
	Elman       Operator = "rnn"
	GRU         Operator = "gru"
	LSTM        Operator = "lstm"
)

// An Axis is one along which a window moves: place p of Out sees positions p·Stride − Low
// + t of In, t < Taps.
type Axis struct{ In, Taps, Stride, Low, Out int }

// Cell has the weights of a recurrent cell in PyTorch's blocks: of the input, of the state,
// the sum of both biases, and the bias of the last block of the state's product. Biases are
// nil for a cell without them.
type Cell struct{ Input, State, Bias, Own *graph.Node }

// did reports a finished layer to Operation.
func (c *Call) did(o Operation) {
	if c.Operation != nil {
		c.Operation(o)
	}
}

// axes are the axes of a window.
func (w window) axes() []Axis {
	list := make([]Axis, len(w))
	for i, a := range w {
		list[i] = Axis{a.in, a.taps, a.stride, a.low, a.out}
	}
	return list
}
