package cpu

import (
	"math"

	"d3p/internal/privacy"
)

// factors turns the squared norms into the factor that each record's gradient
// is multiplied by, and returns Σ (1[|g_b| <= C] - 1/2). An invalid record or a
// gradient that is not finite is a zero gradient: factor 0, and within C.
func (c *context) factors(clip privacy.Clip) (count float64) {
	c.zeros = 0
	factor := c.factor[:c.n]
	for b, s := range c.norm2[:c.n] {
		norm := math.Sqrt(s)
		if norm-norm != 0 || !c.rows.Valid[c.row(b)] {
			factor[b] = 0
			c.zeros++
			count += 0.5
			continue
		}
		factor[b] = clip.Factor(norm)
		if norm <= clip.Norm {
			count += 0.5
		} else {
			count -= 0.5
		}
	}
	return count
}
