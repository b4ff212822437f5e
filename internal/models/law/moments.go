package law

import (
	"math"

	"d3p/internal/models/data"
)

// Moments are the mean and the standard deviation of a column of numbers, in the unit after
// the declared transform, which is the unit of its declared scale. A column that was not
// bought has those of the declared scale.
func (c *Column) Moments() (mean, sd float64) {
	if c.Shares == nil {
		return c.declared.Scale()
	}
	for i, share := range c.Shares {
		first, _ := c.CellMoments(i)
		mean += share * first
	}
	variance := 0.0
	for i, share := range c.Shares {
		first, second := c.CellMoments(i)
		variance += share * (second - 2*mean*first + mean*mean)
	}
	return mean, math.Sqrt(max(variance, 0))
}

// MomentsSD are the standard deviations that the noise of the shares gives mean
// and standard deviation, to first order; 0 for a column that was not bought.
func (c *Column) MomentsSD() (mean, sd float64) {
	if c.Shares == nil {
		return 0, 0
	}
	m, s := c.Moments()
	if c.ScaleSD > 0 { // no two means are farther apart than the bounds
		low, high := c.transformedEnds()
		return min(c.ShiftSD*s, high-low), min(math.Expm1(c.ScaleSD)*s, (high-low)/2)
	}
	ofMean, ofVariance := 0.0, 0.0
	for i, noise := range c.ShareSD {
		first, second := c.CellMoments(i)
		a, b := first-m, second-2*m*first+m*m-s*s
		ofMean += noise * noise * a * a
		ofVariance += noise * noise * b * b
	}
	if s == 0 {
		return math.Sqrt(ofMean), math.Sqrt(math.Sqrt(ofVariance))
	}
	return math.Sqrt(ofMean), math.Sqrt(ofVariance) / (2 * s)
}

// MeanWidth is the mean width of a record's cell, in the unit after the declared transform.
func (c *Column) MeanWidth() float64 {
	width := 0.0
	for i, share := range c.Shares {
		width += share * (c.transformedEdge(i+1) - c.transformedEdge(i))
	}
	return width
}

// WithinCells is the error of the mean, in standard deviations, and that of the log of the
// standard deviation, if the numbers of a cell can be anywhere in it: all at 0, say, which is
// usual and no histogram shows.
func (c *Column) WithinCells() (mean, logSD float64) {
	m, sd := c.Moments()
	if sd == 0 { // one whole number
		return 0, 0
	}
	ofVariance := 0.0
	for i, share := range c.Shares {
		wide := c.transformedEdge(i+1) - c.transformedEdge(i)
		if c.declared.Type.V == data.Integer && wide <= 1 && !c.declared.Transform.IsSet() {
			continue // one whole number
		}
		wide /= math.Sqrt(12)
		first, _ := c.CellMoments(i)
		mean = math.Hypot(mean, share*wide)
		ofVariance = math.Hypot(ofVariance, share*math.Hypot(2*(first-m)*wide, wide*wide))
	}
	return mean / sd, ofVariance / (2 * sd * sd)
}

// transformedEdge is an edge in the unit after the declared transform.
func (c *Column) transformedEdge(i int) float64 {
	low, high := c.ends()
	return c.declared.Transformed(min(max(c.Edges[i], low), high))
}

// transformedEnds are the ends in the unit after the declared transform.
func (c *Column) transformedEnds() (low, high float64) {
	low, high = c.ends()
	return c.declared.Transformed(low), c.declared.Transformed(high)
}

// ends are the first and the last edge of cells: those of whole numbers reach half of one beyond
// the bounds.
func (c *Column) ends() (low, high float64) {
	d := c.declared
	if d.Whole() && !d.Transform.IsSet() {
		return d.Lower.V - 0.5, d.Upper.V + 0.5
	}
	return d.Lower.V, d.Upper.V
}

// Of is the column with a declaration.
func (c Column) Of(d *data.Column) *Column {
	c.declared = d
	return &c
}

// CellMoments returns the mean of the transformed numbers of cell i and the mean of their squares.
// Simpson's rule in eight parts; exact without a transform. Those of whole numbers in a narrow cell
// are of the numbers that are drawn from it.
func (c *Column) CellMoments(i int) (first, second float64) {
	const parts = 8
	d := c.declared
	if wide := c.Edges[i+1] - c.Edges[i]; d.Whole() && wide > 0 && wide <= parts {
		return c.wholeMoments(c.Edges[i], c.Edges[i+1])
	}
	for k := range parts + 1 {
		weight := 4.0
		switch {
		case k == 0 || k == parts:
			weight = 1
		case k%2 == 0:
			weight = 2
		}
		x := c.Edges[i] + (c.Edges[i+1]-c.Edges[i])*float64(k)/parts
		x = d.Transformed(min(max(x, d.Lower.V), d.Upper.V))
		first += weight * x / (3 * parts)
		second += weight * x * x / (3 * parts)
	}
	return first, second
}

// wholeMoments are the mean and the mean square of whole numbers, transformed, that are the
// nearest ones to uniform numbers from low to high.
func (c *Column) wholeMoments(low, high float64) (first, second float64) {
	for n := math.Ceil(low - 0.5); n < high+0.5; n++ {
		weight := (min(n+0.5, high) - max(n-0.5, low)) / (high - low)
		x := c.declared.Transformed(c.admit(n))
		first += weight * x
		second += weight * x * x
	}
	return first, second
}
