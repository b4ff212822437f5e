package models

import (
	"math"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
)

// Decode is what field f says in an encoded row: a number in the unit of the
// file, or the index of a level. NaN where an imputed row has no level.
func (f *Field) Decode(row []float64) float64 {
	switch x := row[max(f.Out[0], 0)]; f.Kind {
	case Numeric, Quantile:
		if f.Kind == Quantile {
			x = math.Erfc(-x/math.Sqrt2) / 2
		}
		by := f.Scale
		if by == 0 {
			by = 1
		}
		c := data.Column{Transform: source.Value[string]{V: f.Transform}}
		return c.Untransformed(x*by + f.Center)
	case OneHot:
		level := math.NaN()
		for l, out := range f.Out {
			if out < 0 {
				level = float64(l) // the reference, unless another one is set
			}
		}
		for l, out := range f.Out {
			if out >= 0 && row[out] == 1 {
				level = float64(l)
			}
		}
		return level
	default:
		return x
	}
}
