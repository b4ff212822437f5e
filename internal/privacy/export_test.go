package privacy

import "math"

// CountExactly is the sums of Counts before their noise, for tests.
func CountExactly(c *Columns, partitions []Partition) ([][]float64, error) {
	cells, err := c.cells(partitions)
	if err != nil {
		return nil, err
	}
	if err := c.read(); err != nil {
		return nil, err
	}
	var out [][]float64
	for _, sum := range c.count(cells) {
		out = append(out, exact(sum))
	}
	return out, nil
}

// MomentsExactly is the sum of Moments before its noise, in units of the bound.
func MomentsExactly(c *Columns, d Design) ([]float64, error) {
	reader, err := c.design(d)
	if err != nil {
		return nil, err
	}
	if err := c.read(); err != nil {
		return nil, err
	}
	return exact(c.moments(reader)[0]), nil
}

// LogisticEnergy is U of a draw at points φ.
func LogisticEnergy(c *Columns, m LogisticDraw, points [][]float64) ([]float64, error) {
	reader, err := c.design(Design{Products: append(m.Products, []Reading{m.Response}), Bound: 1, Noise: 1})
	if err != nil {
		return nil, err
	}
	if err := c.read(); err != nil {
		return nil, err
	}
	slope, err := m.Slope(c.rows.Codes.Most)
	if err != nil {
		return nil, err
	}
	p := c.logistic(m, reader, slope)
	out := make([]float64, len(points))
	for i, phi := range points {
		out[i] = p.Energy(phi, math.Inf(1))
	}
	return out, nil
}

// PosteriorDensity is the log density of a draw at points (P scalars each), up to a
// constant.
func PosteriorDensity(c *Curator, m PosteriorDraw, points [][]float64) ([]float64, error) {
	target, end, err := c.target(m)
	if err != nil {
		return nil, err
	}
	out, gradient := make([]float64, len(points)), make([]float64, m.Model.P)
	for i, theta := range points {
		if out[i], err = target.density(gradient, theta); err != nil {
			return nil, err
		}
	}
	return out, end()
}
