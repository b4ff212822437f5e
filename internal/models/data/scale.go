package data

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
		for _, f := range factors {
			if !f.Column.Numeric() || f.Missing || f.Column.Unscaled() {
				continue
			}
			if len(factors) > 1 {
				return some, false
			}
			some = true
		}
	}
	return some, true
}

// Scales returns the values of NAME.center and NAME.by: the declared scale of the columns
// that labels name, 0 and 1 for levels. ok is false if a label is no predictor or an
// interaction of columns on a scale.
func (d *Data) Scales(labels []string) (center, by []float64, ok bool) {
	if _, ok := d.Scaled(labels); !ok {
		return nil, nil, false
	}
	for _, label := range labels {
		factors, ok := d.Factors(label)
		if !ok {
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
