package privacy

import (
	"errors"
	"fmt"
	"math"

	"d3p/internal/models/encoding"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/internal/records"
	"d3p/internal/simd"
)

// Reading is a number of a row, from a column of the file. Bounds and imputed values are
// those of the encoding.
type Reading struct {
	Column string
	// Level is a level of a category: the reading is 1 for it and 0 for all others. It is
	// Number if the reading is the number itself, or the index of the level.
	Level int
	// Transform is applied to a number within its bounds.
	Transform string
	// Center and By standardise the result: (x - Center) / By.
	Center, By float64
}

// Special values of Reading.Level.
const (
	Number  = -1
	Missing = -2 // 1 for a row without a value in the column
)

// Design is a vector of p numbers of a row: products of readings. The empty product
// is 1.
type Design struct {
	Products [][]Reading
	// Map takes the products to the numbers x: each of its rows has a weight for each
	// product. nil: they are the numbers.
	Map [][]float64
	// Bound is C: the most in L2 norm that a unit adds to the numbers that are released.
	Bound float64
	// Noise is the standard deviation of their noise, in units of C.
	Noise float64
}

// momentsEvent is the event of one Moments. One unit moves the sum by at most C, as the
// accountant assumes.
func momentsEvent(d Design) event.Event { return event.Gaussian{NoiseMultiplier: d.Noise} }

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
	if err := c.ReadColumns(); err != nil {
		return nil, err
	}
	stream, err := c.charge(purpose, momentsEvent(d), c.columns.cfg.Encoding, d)
	if err != nil {
		return nil, err
	}
	defer stream.Wipe()
	moments := exact(c.columns.moments(reader)[0])
	err = releaseTogether(c.ranks, moments, func() { stream.AddGaussian(moments, d.Noise) })
	if err != nil {
		return nil, err
	}
	for i := range moments {
		moments[i] *= d.Bound
	}
	return moments, nil
}

// NonPrivateMoments is Moments without noise, for baselines. It marks the ledger for good.
func (c *Curator) NonPrivateMoments(d Design) ([]float64, error) {
	if c.columns == nil || c.session != nil {
		return nil, errors.New("privacy: moments need columns, and no open session")
	}
	d.Noise = 1
	reader, err := c.columns.design(d)
	if err != nil {
		return nil, err
	}
	c.ledger.NotPrivate = notPrivate
	if err := c.ReadColumns(); err != nil {
		return nil, err
	}
	moments := exact(c.columns.moments(reader)[0])
	for i := range moments {
		moments[i] *= d.Bound
	}
	return moments, nil
}

// designReader computes a Design's numbers.
type designReader struct {
	products [][]reading
	weights  [][]float64 // Design.Map
	bound    float64
}

type reading struct {
	Reading
	column encoding.Field

	coded *records.CodedColumn // once the columns are read
	// The number is stored·slope + level if the table stores it after the transform.
	affine       bool
	slope, level float64
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
	if err := checkMap(d); err != nil {
		return nil, err
	}
	r := &designReader{bound: d.Bound, weights: d.Map}
	for _, factors := range d.Products {
		var product []reading
		for _, f := range factors {
			column, err := c.find(f.Column)
			if err != nil {
				return nil, err
			}
			if f.Level < Missing || f.Level >= len(column.Levels) {
				return nil, fmt.Errorf("privacy: column %s has no level %d", f.Column, f.Level)
			}
			if !(f.By > 0) || f.Center-f.Center != 0 {
				return nil, fmt.Errorf("privacy: column %s is to be standardised by %g around %g", f.Column, f.By, f.Center)
			}
			product = append(product, reading{Reading: f, column: column})
		}
		r.products = append(r.products, product)
	}
	return r, nil
}

// checkMap checks the map of a Design.
func checkMap(d Design) error {
	if len(d.Map) > mostProducts {
		return fmt.Errorf("privacy: a map to %d numbers, want at most %d", len(d.Map), mostProducts)
	}
	for _, row := range d.Map {
		if len(row) != len(d.Products) {
			return fmt.Errorf("privacy: a map of %d products, want %d", len(row), len(d.Products))
		}
		for _, weight := range row {
			if weight-weight != 0 {
				return fmt.Errorf("privacy: weight %g of a map is not finite", weight)
			}
		}
	}
	return nil
}

// numbers is the number of numbers of a row.
func (d *designReader) numbers() int {
	if d.weights != nil {
		return len(d.weights)
	}
	return len(d.products)
}

// mapped is the numbers of a row's products: in memory of y if there is a map.
func (d *designReader) mapped(y, products []float64) []float64 {
	if d.weights == nil {
		return products
	}
	for i, row := range d.weights {
		y[i] = simd.Dot(row, products)
	}
	return y
}

// bind gives the readings the rows' numbers of their columns.
func (d *designReader) bind(c *Columns) {
	for _, product := range d.products {
		for k := range product {
			product[k].bind(c)
		}
	}
}

// row sets products to those of row r of record i.
func (d *designReader) row(products []float64, rows *Rows, i, r int) {
	for j, product := range d.products {
		products[j] = 1
		for k := range product {
			products[j] *= product[k].of(rows, i, r)
		}
	}
}

// bind gives a reading the rows' numbers of its column.
func (r *reading) bind(c *Columns) {
	r.coded = c.coded(r.Column)
	if f := &r.column; r.Level == Number && f.Levels == nil && f.Transform == r.Transform {
		scale := f.Unit()
		r.affine, r.slope, r.level = true, scale/r.By, (f.Center-r.Center)/r.By
	}
}

// of is the reading of row k of record i.
func (r *reading) of(rows *Rows, i, k int) float64 {
	f, codes := &r.column, rows.Codes.Row(i, k)
	code := r.coded.Code(codes)
	absent, x := code == r.coded.Missing(), 0.0
	switch {
	case r.Level == Missing:
		if absent {
			x = 1
		}
	case f.Levels != nil:
		if x = float64(code); absent {
			x = f.Impute
		}
		if r.Level >= 0 {
			if int(x) == r.Level {
				x = 1
			} else {
				x = 0
			}
		}
	case r.affine && !absent:
		return number(rows, i, k, r.coded.Number)*r.slope + r.level
	default:
		if x = f.Impute; !absent {
			x = f.Number(number(rows, i, k, r.coded.Number))
		}
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

// moments returns Σ v_u / C in units of 1/grain.
func (c *Columns) moments(d *designReader) sums {
	d.bind(c)
	p := d.numbers()
	size := p * (p + 1) / 2
	return c.over(func() sums { return sums{make([]int64, size)} }, func(to sums, low, high int) {
		products, mapped, x := make([]float64, len(d.products)), make([]float64, p), make([]float64, p)
		v, whole := make([]float64, size), make([]int64, size)
		var usable, kept []int
		for i := low; i < high; i++ {
			usable = c.rowsOf(usable[:0], i, true)
			clear(v)
			kept = kept[:0]
			for _, r := range usable {
				d.row(products, c.rows, i, r)
				numbers := d.mapped(mapped, products)
				if len(kept) == 0 {
					kept = nonzero(kept, numbers, len(usable))
				}
				for a, j := range kept {
					x[a] = numbers[j]
				}
				rest := v
				for a := range kept {
					n := len(kept) - a
					simd.Axpy(rest[:n], x[a], x[a:])
					rest = rest[n:]
				}
			}
			n := len(kept) * (len(kept) + 1) / 2
			if !shorten(whole[:n], v[:n], d.bound) {
				continue
			}
			rest := whole
			for a, j := range kept {
				row := to[0][j*p-j*(j+1)/2:] // of the triangle, less j places
				for b, k := range kept[a:] {
					row[k] += rest[b]
				}
				rest = rest[len(kept)-a:]
			}
		}
	})
}

// nonzero appends the places in x of the numbers that enter a unit's moments to list: for a
// unit of one row those that are not zero, else all. Indicators of levels are mostly zero.
// A NaN is not zero.
func nonzero(list []int, x []float64, rows int) []int {
	for j, v := range x {
		if v != 0 || rows > 1 {
			list = append(list, j)
		}
	}
	return list
}

// shorten sets dst to v in units of bound/grain, rounded, and shortened so that the squares
// of dst, the summed numbers, add up to at most grain². It reports false if v has no finite
// norm.
func shorten(dst []int64, v []float64, bound float64) bool {
	norm, ok := length(v)
	if !ok {
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

// length is the L2 norm of v, and whether it is finite.
func length(v []float64) (norm float64, ok bool) {
	square := simd.Dot(v, v)
	if square > 0x1p-900 && square <= math.MaxFloat64 {
		return math.Sqrt(square), true
	}
	longest := 0.0
	for _, x := range v {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return 0, false
		}
		longest = max(longest, math.Abs(x))
	}
	if longest == 0 {
		return 0, true
	}
	square = 0
	for _, x := range v {
		square += (x / longest) * (x / longest)
	}
	norm = longest * math.Sqrt(square)
	return norm, norm <= math.MaxFloat64
}
