package table1

import (
	"d3p/internal/models"
	"d3p/internal/models/data"
)

// column is the declaration of a number.
type column struct {
	declared           *data.Column
	lower, upper       float64 // transformed
	rawLower, rawUpper float64
	center, scale      float64 // declared, or of the uniform on the bounds
	scaled             bool    // a scale is declared
	whole              bool
}

func columnOf(d *data.Column) column {
	c := column{declared: d, rawLower: d.Lower.V, rawUpper: d.Upper.V, whole: d.Whole()}
	c.lower, c.upper = d.Transformed(c.rawLower), d.Transformed(c.rawUpper)
	c.center, c.scale = d.Scale()
	c.scaled = d.Center.IsSet() && d.By.IsSet()
	return c
}

// transformed is a number of the file, moved to the bounds, after the declared transform.
func (c column) transformed(x float64) float64 {
	return c.declared.Transformed(min(max(x, c.rawLower), c.rawUpper))
}

// find is the declaration of a column of the file.
func find(m *models.Model, header string) *data.Column {
	for _, c := range m.Spec.Data.Columns {
		if c.HeaderName() == header {
			return c
		}
	}
	return nil
}
