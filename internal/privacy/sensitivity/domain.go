package sensitivity

import (
	"math"
	"math/rand/v2"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
)

// A column is the range of an encoded column under the custodian's declarations.
type column struct {
	low, high float64 // bounds of a number, infinite if undeclared
	levels    int     // of a level code: whole numbers below it
}

// A domain is the encoded records that a search draws from: rows blocks of columns,
// each with a flag behind it if a record may have several rows.
type domain struct {
	columns []column
	rows    int
}

// free is the domain of K arbitrary numbers.
func free(K int) domain {
	d := domain{columns: make([]column, K), rows: 1}
	for j := range d.columns {
		d.columns[j] = column{low: math.Inf(-1), high: math.Inf(1)}
	}
	return d
}

// encoded is the domain of an encoding.
func encoded(e *encoding.Encoding) domain {
	d := free(e.K)
	d.rows = max(1, e.RowsPerUnit)
	for i := range e.Fields {
		f := &e.Fields[i]
		switch f.Kind {
		case encoding.LevelCode:
			d.columns[f.Out[0]] = column{levels: len(f.Levels)}
		case encoding.Numeric:
			d.columns[f.Out[0]] = column{low: scaled(f, f.Lower, math.Inf(-1)), high: scaled(f, f.Upper, math.Inf(1))}
		case encoding.Quantile:
			d.columns[f.Out[0]] = column{low: -40, high: 40}
		case encoding.Tokens:
			for _, out := range f.Out {
				d.columns[out] = column{levels: f.TokenLevels()}
			}
		default: // flags
			for _, out := range f.Out {
				if out >= 0 {
					d.columns[out] = column{levels: 2}
				}
			}
		}
	}
	return d
}

// scaled is a bound in the unit of the encoded column.
func scaled(f *encoding.Field, bound *float64, absent float64) float64 {
	if bound == nil {
		return absent
	}
	x := *bound
	if t := data.TransformNamed(f.Transform); t != nil {
		x = t.Apply(x)
	}
	return (x - f.Center) / f.Unit()
}

// width is the number of columns of a record.
func (d *domain) width() int {
	if d.rows > 1 {
		return d.rows * (len(d.columns) + 1)
	}
	return len(d.columns)
}

// row is the numbers of row r of a record, without its flag.
func (d *domain) row(x []float64, r int) []float64 {
	if d.rows == 1 {
		return x
	}
	return x[r*(len(d.columns)+1):][:len(d.columns)]
}

// draw sets x to a random record.
func (d *domain) draw(rng *rand.Rand, x []float64) {
	present := 1 + rng.IntN(d.rows)
	for r := range d.rows {
		row := d.row(x, r)
		for j := range row {
			row[j] = d.columns[j].draw(rng)
		}
		if r > 0 && rng.IntN(2) == 0 { // rows that differ in little can cancel
			copy(row, d.row(x, 0))
			for range 1 + rng.IntN(2) {
				j := rng.IntN(len(row))
				row[j] = d.columns[j].draw(rng)
			}
		}
		if d.rows > 1 {
			flag := 0.0
			if r < present {
				flag = 1
			} else {
				copy(row, d.row(x, 0))
			}
			x[(r+1)*(len(row)+1)-1] = flag
		}
	}
}

// draw is a number of the column: a bound, 0, or any between, of any size.
func (c column) draw(rng *rand.Rand) float64 {
	if c.levels > 0 {
		return float64(rng.IntN(c.levels))
	}
	switch rng.IntN(8) {
	case 0:
		return c.clamp(c.low)
	case 1:
		return c.clamp(c.high)
	case 2:
		return c.clamp(0)
	case 3:
		return c.clamp(signed(rng, -3, 6))
	}
	low, high := max(c.low, -3), min(c.high, 3)
	if high <= low {
		low, high = c.low, min(c.high, c.low+6)
	}
	return c.clamp(low + rng.Float64()*(high-low))
}

// clamp brings x into the column, and an infinite bound to a large number.
func (c column) clamp(x float64) float64 {
	if c.levels > 0 {
		return min(max(math.Trunc(x), 0), float64(c.levels-1))
	}
	const large = 1e9
	return min(max(x, max(c.low, -large)), min(c.high, large))
}

// signed is a number of either sign with a decimal logarithm in [low, high).
func signed(rng *rand.Rand, low, high float64) float64 {
	x := math.Pow(10, low+rng.Float64()*(high-low))
	if rng.IntN(2) == 0 {
		return -x
	}
	return x
}

// wild is a number that no declaration admits; an engine must stay within C for it, too.
func wild(rng *rand.Rand) float64 {
	special := []float64{
		math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat32,
		math.MaxFloat64, -math.MaxFloat32, 0x1p-1022, 0x1p-126, 0x1p-537, 1e154, 1 << 24, 1<<53 + 2,
	}
	if k := rng.IntN(2 * len(special)); k < len(special) {
		return special[k]
	}
	reach := []float64{3, 19, 37, 150, 300}[rng.IntN(5)]
	return signed(rng, -reach, reach)
}

// nudge is x moved a little, by any power of ten of itself or of 1.
func nudge(rng *rand.Rand, x float64) float64 {
	if rng.IntN(2) == 0 {
		return x + signed(rng, -12, 2)
	}
	return x * (1 + signed(rng, -16, 0))
}

// mutate changes x a little, within the domain.
func (d *domain) mutate(rng *rand.Rand, x []float64) {
	r := rng.IntN(d.rows)
	row := d.row(x, r)
	j := rng.IntN(len(row))
	switch k := rng.IntN(8); {
	case k == 0 && d.rows > 1: // two equal rows
		copy(row, d.row(x, rng.IntN(d.rows)))
	case k == 1 && d.rows > 1: // in one number
		row[j] = d.row(x, rng.IntN(d.rows))[j]
	case k == 2 && d.rows > 1: // another one present
		x[(r+1)*(len(row)+1)-1] = float64(rng.IntN(2))
	case k == 3: // two equal columns
		row[j] = d.columns[j].clamp(row[rng.IntN(len(row))])
	case k <= 5:
		row[j] = d.columns[j].draw(rng)
	default:
		row[j] = d.columns[j].clamp(nudge(rng, row[j]))
	}
}
