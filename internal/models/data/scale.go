package data

import "slices"

// Unscaled reports whether a column's declared scale is one about zero.
func (c *Column) Unscaled() bool {
	center, by := c.Scale()
	return center == 0 && by == 1
}

// Scaled reports whether some of the labels name columns on a scale. ok is false if an
// interaction of such columns is among them.
func (d *Data) Scaled(labels []string) (some, ok bool) {
	for _, label := range labels {
		factors, _ := d.Factors(label)
		scaled := slices.ContainsFunc(factors, Factor.scaled)
		if scaled && len(factors) > 1 {
			return some, false
		}
		some = some || scaled
	}
	return some, true
}

// scaled reports whether the factor is a number on a scale.
func (f Factor) scaled() bool { return f.Column.Numeric() && !f.Missing && !f.Column.Unscaled() }

// Scales returns the values of NAME.center and NAME.by: the declared scale of the columns
// that labels name, 0 and 1 for levels. ok is false if a label is no predictor or an
// interaction of columns on a scale.
func (d *Data) Scales(labels []string) (center, by []float64, ok bool) {
	for _, label := range labels {
		factors, ok := d.Factors(label)
		if !ok || len(factors) > 1 && slices.ContainsFunc(factors, Factor.scaled) {
			return nil, nil, false
		}
		c, s := 0.0, 1.0
		if f := factors[0]; len(factors) == 1 && f.Column.Numeric() && !f.Missing {
			c, s = f.Column.Scale()
		}
		center, by = append(center, c), append(by, s)
	}
	return center, by, true
}
