package privacy

import (
	"errors"
	"fmt"
	"math"

	"d3p/internal/models/encoding"
	"d3p/internal/privacy/event"
)

// Reading is a number that a row has in a column of the file. Bounds and what takes the
// place of a missing value are those of the encoding.
type Reading struct {
	Column string
	// Level is the level of a category that the reading is 1 in and 0 elsewhere;
	// Number is the number, or the index of the level.
	Level int
	// Transform is applied to a number within its bounds.
	Transform string
	// Center and By standardise what results: (x - Center) / By.
	Center, By float64
}

// Special values of Reading.Level.
const (
	Number  = -1
	Missing = -2 // 1 where the column has no value
)

// Design is a vector of p numbers of a row: products of readings. The empty product
// is 1.
type Design struct {
	Products [][]Reading
	// Bound is C: the most in L2 norm that a unit adds to the numbers that are released.
	Bound float64
	// Noise is the standard deviation of their noise, in units of C.
	Noise float64
}

// MomentsEvent is what one Moments costs. One unit moves the sum by at most C, which is
// what the accountant takes.
func MomentsEvent(d Design) event.Event { return event.Gaussian{NoiseMultiplier: d.Noise} }

// mostProducts bounds the numbers of a Design.
const mostProducts = 1000

// Moments returns Σ v_u + N(0, (Noise·Bound)²I), where v_u is the upper triangle,
// diagonal included, row by row, of the sum of x xᵀ over the usable rows x of unit u,
// shortened to norm Bound. It is one release, one entry of the ledger, charged before a
// sum is computed. A unit for which a number is not finite adds nothing.
func (c *Curator) Moments(purpose string, d Design) ([]float64, error) {
	if c.columns == nil {
		return nil, errors.New("privacy: the curator has no columns to take moments of")
	}
	reader, err := c.columns.design(d)
	if err != nil {
		return nil, err
	}
	if err := ready(c.ranks, c.readColumns()); err != nil {
		return nil, err
	}
	stream, err := c.charge(purpose, MomentsEvent(d))
	if err != nil {
		return nil, err
	}
	defer stream.Wipe()
	moments := exact(c.columns.moments(reader))
	err = releaseTogether(c.ranks, moments, func() { stream.AddGaussian(moments, d.Noise) })
	if err != nil {
		return nil, err
	}
	for i := range moments {
		moments[i] *= d.Bound
	}
	return moments, nil
}

// designReader computes a Design's numbers.
type designReader struct {
	products [][]reading
	bound    float64
}

type reading struct {
	Reading
	at     int
	column encoding.Field
}

// design checks a Design.
func (c *Columns) design(d Design) (*designReader, error) {
	switch {
	case len(d.Products) == 0 || len(d.Products) > mostProducts:
		return nil, fmt.Errorf("privacy: a design of %d numbers, want 1 to %d", len(d.Products), mostProducts)
	case !(d.Noise >= leastNoise && d.Noise <= mostNoise):
		return nil, fmt.Errorf("privacy: noise %g of moments is not in [%g, %g]", d.Noise, leastNoise, mostNoise)
	case !(d.Bound >= clipMin && d.Bound <= clipMax):
		return nil, fmt.Errorf("privacy: bound %g of moments is not in [%g, %g]", d.Bound, clipMin, clipMax)
	}
	r := &designReader{bound: d.Bound}
	for _, factors := range d.Products {
		var product []reading
		for _, f := range factors {
			at, column, err := c.find(f.Column)
			if err != nil {
				return nil, err
			}
			if f.Level < Missing || f.Level >= len(column.Levels) {
				return nil, fmt.Errorf("privacy: column %s has no level %d", f.Column, f.Level)
			}
			if !(f.By > 0) || f.Center-f.Center != 0 {
				return nil, fmt.Errorf("privacy: column %s is to be standardised by %g around %g", f.Column, f.By, f.Center)
			}
			product = append(product, reading{Reading: f, at: at, column: column})
		}
		r.products = append(r.products, product)
	}
	return r, nil
}

// of is the reading of a row.
func (r *reading) of(row []float64) float64 {
	x, f := row[r.at], &r.column
	absent := row[r.at+1] == 1
	if r.Level == Missing {
		if x = 0; absent {
			x = 1
		}
		return (x - r.Center) / r.By
	}
	if absent {
		x = f.Impute
	}
	switch {
	case f.Levels != nil && r.Level >= 0:
		if int(x) == r.Level {
			x = 1
		} else {
			x = 0
		}
	case f.Levels == nil:
		if f.Lower != nil {
			x = max(x, *f.Lower)
		}
		if f.Upper != nil {
			x = min(x, *f.Upper)
		}
		x = encoding.Transformed(r.Transform, x)
	}
	return (x - r.Center) / r.By
}

// moments is Σ v_u / C in units of 1/grain.
func (c *Columns) moments(d *designReader) []int64 {
	p := len(d.products)
	x, v := make([]float64, p), make([]float64, p*(p+1)/2)
	whole, sum := make([]int64, len(v)), make([]int64, len(v))
	usable := c.usable()
	c.eachUnit(func(rows [][]float64) {
		clear(v)
		for _, row := range rows {
			if !usable(row) {
				continue
			}
			for i, product := range d.products {
				x[i] = 1
				for k := range product {
					x[i] *= product[k].of(row)
				}
			}
			at := 0
			for i := range x {
				for _, y := range x[i:] {
					v[at] += x[i] * y
					at++
				}
			}
		}
		if !shorten(whole, v, d.bound) {
			return
		}
		for i, q := range whole {
			sum[i] += q
		}
	})
	return sum
}

// shorten sets dst to v in units of bound/grain, rounded, and shortened so far that the
// squares of dst, which is what enters a sum, add up to at most grain². It reports
// false if v has no finite norm.
func shorten(dst []int64, v []float64, bound float64) bool {
	longest := 0.0
	for _, x := range v {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return false
		}
		longest = max(longest, math.Abs(x))
	}
	norm := 0.0
	if longest > 0 {
		for _, x := range v {
			norm += (x / longest) * (x / longest)
		}
		norm = longest * math.Sqrt(norm)
	}
	if !(norm <= math.MaxFloat64) {
		return false
	}
	factor := grain / max(norm, bound)
	for {
		squares := uint64(0)
		for i, x := range v {
			dst[i] = int64(math.RoundToEven(x * factor))
			squares += uint64(dst[i] * dst[i])
		}
		if squares <= grain*grain {
			return true
		}
		factor *= 1 - 0x1p-20
	}
}
