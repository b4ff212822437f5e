package data

import "d3p/internal/models/source"

// Tensor declares columns that together are one array: an image, a spectrum.
// All share their bounds and scale.
type Tensor struct {
	Name         source.Value[string]
	From         source.Value[string]   // columns("px0".."px783"); unset: columns("NAME0".."NAMEn")
	Dims         []source.Value[string] // of the array; they are dims of the model
	Shape        []source.Value[int]
	Lower, Upper source.Value[float64]
	Center, By   source.Value[float64]
	Source       source.Value[string]
	// Binarize turns every value x in [0, 1] into 0 or 1: stochastic is 1 with
	// probability x, drawn anew in every step; threshold is 1 from a half on.
	Binarize source.Value[string]

	Columns []*Column // in row-major order
}

// The ways to binarise.
const (
	Stochastic = "stochastic"
	Threshold  = "threshold"
)

// Size is the number of columns.
func (t *Tensor) Size() int {
	n := 1
	for _, s := range t.Shape {
		n *= s.V
	}
	return n
}

// Tensor returns the tensor of that name, or nil.
func (d *Data) Tensor(name string) *Tensor {
	for _, t := range d.Tensors {
		if t.Name.V == name {
			return t
		}
	}
	return nil
}

// AllColumns lists the columns of the data file that the model may read: the
// declared ones, then those of each tensor.
func (d *Data) AllColumns() []*Column {
	all := d.Columns[:len(d.Columns):len(d.Columns)]
	for _, t := range d.Tensors {
		all = append(all, t.Columns...)
	}
	return all
}
