package data

import (
	"fmt"
	"math"
)

// The numbers of a table are float32, up to 3e38, and a fit takes squares and products of
// them with coefficients as float64.
const (
	mostNumber = 1e30 // of bounds, centers and scales
	mostFar    = 1e12 // scales between a bound and the center
)

// CheckRange refuses a number whose bounds or scale leave the numbers that a fit can
// calculate with. Bounds and transform fit each other.
func (c *Column) CheckRange() error {
	center, by := c.Scale()
	for _, x := range []float64{c.Lower.V, c.Upper.V, center} {
		if !(math.Abs(x) <= mostNumber) {
			return fmt.Errorf("the numbers of column %s reach %.3g, and d3p calculates with numbers up to %g", c.Name.V, x, mostNumber)
		}
	}
	if !(by >= 1/mostNumber && by <= mostNumber) {
		return fmt.Errorf("the scale of column %s is %.3g, and d3p calculates with scales from %g to %g", c.Name.V, by, 1/mostNumber, mostNumber)
	}
	for _, bound := range []float64{c.Lower.V, c.Upper.V} {
		if far := math.Abs(c.Transformed(bound)-center) / by; far > mostFar {
			return fmt.Errorf("column %s has a bound %.3g scales from its center, and d3p calculates with up to %g", c.Name.V, far, mostFar)
		}
	}
	return nil
}
