package encoding

import (
	"math"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
	"d3p/internal/models/special"
)

// Decode is the value of field f in an encoded row: a number in the unit of the file, or
// the index of a level. It is NaN if an imputed row has no level.
func (f *Field) Decode(row []float64) float64 {
	switch x := row[max(f.Out[0], 0)]; f.Kind {
	case Numeric, Quantile:
		return f.Number(x)
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

// Encode encodes a record without undeclared levels; value returns its cell of a
// column, a number or the index of a level. NaN is a missing value.
func (e Encoding) Encode(row []float64, value func(header string) float64) {
	clear(row)
	for _, f := range e.Fields {
		if f.Kind == Tokens {
			for i, out := range f.Out {
				row[out] = value(data.TokenColumn(f.Column, i))
			}
			continue
		}
		v := value(f.Column)
		if f.Kind == MissingIndicator {
			if math.IsNaN(v) {
				row[f.Out[0]] = 1
			}
			continue
		}
		if math.IsNaN(v) {
			v = f.Impute
		}
		switch f.Kind {
		case Numeric, Quantile:
			row[f.Out[0]] = f.Encoded(v)
		case LevelCode:
			row[f.Out[0]] = v
		case OneHot:
			if v >= 0 && f.Out[int(v)] >= 0 {
				row[f.Out[int(v)]] = 1
			}
		}
	}
}

// Encoded is the encoded value of a number in the unit of the file, of a numeric field.
func (f *Field) Encoded(v float64) float64 {
	x := (Transformed(f.Transform, v) - f.Center) / f.Unit()
	if f.Kind == Quantile {
		x = NormalQuantile(x)
	}
	return x
}

// Number converts x, the encoded value of a numeric field, to the unit of the file.
func (f *Field) Number(x float64) float64 {
	if f.Kind == Quantile {
		x = special.NormalCDF(x)
	}
	c := data.Column{Transform: source.Value[string]{V: f.Transform}}
	return c.Untransformed(x*f.Unit() + f.Center)
}

// Transformed applies a declared transform, "" for none, to a number.
func Transformed(transform string, x float64) float64 {
	c := data.Column{Transform: source.Value[string]{V: transform}}
	return c.Transformed(x)
}
