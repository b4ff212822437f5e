package cpu

import (
	"math"

	"d3p/internal/privacy"
	"d3p/internal/simd"
)

// factors turns the squared norms into the factor that each record's gradient
// is multiplied by, and returns Σ (1[|g_b| <= C] - 1/2). An invalid record or a
// gradient that is not finite is a zero gradient: factor 0, and within C.
func (c *context) factors(clip privacy.Clip) (count float64) {
	c.zeros = 0
	clear(c.lanesAt(c.p.factor, 1)[c.n:])
	factor, norm2 := c.one(c.p.factor), c.one(c.p.norm2)
	// a finite sum of squares has finite terms
	if s := simd.Sum(norm2); clip.Kind == privacy.Flat && c.allValid && s-s == 0 {
		within := c.one(c.p.part)
		simd.ClipFlat(factor, within, norm2, clip.Norm)
		return simd.Sum(within) // halves: exact
	}
	for b, s := range norm2 {
		norm := math.Sqrt(s)
		if norm-norm != 0 || !c.rows.Valid[c.index[b]] {
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
