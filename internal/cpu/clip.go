package cpu

import (
	"math"

	"d3p/internal/privacy"
	"d3p/internal/simd"
)

// factors turns the squared norms into each record's clipping factor, and returns Σ
// (1[|g_b| <= C] - 1/2). An invalid record, or one whose gradient is not finite, has a zero
// gradient: factor 0, and within C.
func (c *context) factors(clip privacy.Clip) (count float64) {
	c.zeros = 0
	clear(c.lanesAt(c.p.factor, 1)[c.n:])
	if c.p.kept > 0 {
		return c.keepElements(clip)
	}
	return c.factorsOf(clip, 0, c.n)
}

// factorsOf is factors for records low <= b < high, whose norms are complete but for the
// allowance for rounding.
func (c *context) factorsOf(clip privacy.Clip, low, high int) (count float64) {
	c.allow(low, high)
	factor, norm2 := c.one(c.p.factor)[low:high], c.one(c.p.norm2)[low:high]
	if clip.Kind == privacy.Flat && c.allValid {
		// a finite sum of squares has finite terms
		if beyond, total := simd.ClipFlat(factor, norm2, clip.Norm); total-total == 0 {
			return 0.5*float64(len(norm2)) - beyond
		}
	}
	for b, s := range norm2 {
		norm := math.Sqrt(s)
		if norm-norm != 0 || !c.rows.Valid[c.index[low+b]] {
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
