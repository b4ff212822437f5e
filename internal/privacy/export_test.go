package privacy

import (
	"context"
	"math"

	"d3p/internal/privacy/exactdraw"
)

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

// LogisticSlopes are the gradient and the curvature of the objective of an optimum of one
// coefficient, without its tilt, at points φ.
func LogisticSlopes(c *Columns, m LogisticOptimum, points []float64) (gradient, curvature []float64, err error) {
	p, err := objectiveOf(c, m)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range points {
		g, h := p.Slope([]float64{x})
		gradient, curvature = append(gradient, g[0]), append(curvature, h.At(0, 0))
	}
	return gradient, curvature, nil
}

// LogisticMinimum is the minimum of an optimum without tilt or noise, in units of the prior.
func LogisticMinimum(c *Columns, m LogisticOptimum) ([]float64, error) {
	p, err := objectiveOf(c, m)
	if err != nil {
		return nil, err
	}
	return m.frame(c.rows.Codes.Most).Minimum(context.Background(), p)
}

func objectiveOf(c *Columns, m LogisticOptimum) (*exactdraw.Posterior, error) {
	reader, err := c.design(Design{Products: append(m.Products, []Reading{m.Response}), Bound: 1, Noise: 1})
	if err != nil {
		return nil, err
	}
	if err := c.read(); err != nil {
		return nil, err
	}
	return c.objective(m, reader, m.frame(c.rows.Codes.Most), nil), nil
}

// WeighTexts is the weight of each text of a column before noise and threshold.
func WeighTexts(c *Columns, column string) (map[string]float64, error) {
	if err := c.read(); err != nil {
		return nil, err
	}
	weights := map[string]float64{}
	names, sums := c.weigh(column)
	for i, name := range names {
		weights[name] = sums[i]
	}
	return weights, nil
}

// FilesDigest is filesDigest.
func FilesDigest(files []string) any { return filesDigest(files) }

// Unchanged is unchanged.
func Unchanged(files []string, processes int, read func() error) error {
	_, err := unchanged(files, processes, read)
	return err
}
