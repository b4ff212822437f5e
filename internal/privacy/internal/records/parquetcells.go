package records

import (
	"math"
	"strconv"

	"d3p/internal/parquet"
)

// A cellOf feeds cell i of a column to the encoder.
type cellOf func(e *encoder, c *column, cells *parquet.Cells, i int)

// cellReader returns the function that feeds cells of a kind; nil if the kind does not fit
// the declaration. It reads text as in a file of text.
func cellReader(kind parquet.Kind, want *column) cellOf {
	switch {
	case kind == parquet.Nothing: // as pandas writes a column of missing values alone
		return func(e *encoder, c *column, _ *parquet.Cells, _ int) { e.absent(c) }
	case kind == parquet.Text || kind == parquet.Words && want.tokens && !want.lists:
		return func(e *encoder, c *column, cells *parquet.Cells, i int) { e.text(c, cells.Text(i)) }
	case (kind == parquet.List || kind == parquet.Empties) && want.lists:
		return func(e *encoder, c *column, cells *parquet.Cells, i int) {
			list := cells.List(i)
			e.list(c, len(list), func(k int) float64 { return float64(list[k]) })
		}
	case kind == parquet.Empties && want.tokens: // lists of words
		return func(e *encoder, c *column, _ *parquet.Cells, _ int) { e.text(c, nil) }
	case kind == parquet.Day && want.date:
		return func(e *encoder, c *column, cells *parquet.Cells, i int) { e.day(c, int(cells.Ints[i])) }
	case want.date:
		return nil
	case want.tokens: // texts that are all numbers, as a program may store them
		return spelled(kind)
	}
	switch kind {
	case parquet.Float, parquet.Decimal:
		return func(e *encoder, c *column, cells *parquet.Cells, i int) { e.number(c, cells.Floats[i]) }
	case parquet.Int:
		return func(e *encoder, c *column, cells *parquet.Cells, i int) { e.number(c, float64(cells.Ints[i])) }
	case parquet.Uint:
		return func(e *encoder, c *column, cells *parquet.Cells, i int) { e.number(c, float64(uint64(cells.Ints[i]))) }
	case parquet.Bool:
		return func(e *encoder, c *column, cells *parquet.Cells, i int) { e.truth(c, cells.Ints[i] != 0) }
	}
	return nil
}

// spelled feeds cells of numbers as their texts; nil for kinds without such texts.
func spelled(kind parquet.Kind) cellOf {
	spell := idReader(kind)
	if spell == nil {
		return nil
	}
	return func(e *encoder, c *column, cells *parquet.Cells, i int) { e.text(c, spell(cells, i, nil)) }
}

// idReader returns the spelling of ids of a kind, as in a CSV export of the same table; nil
// for a kind that cannot be an id. Whole numbers are spelled by their digits, not through a
// float64, which would merge two long ones. Programs without missing whole numbers write
// them as numbers with a point beside a missing one.
func idReader(kind parquet.Kind) func(cells *parquet.Cells, i int, to []byte) []byte {
	switch kind {
	case parquet.Text:
		return func(cells *parquet.Cells, i int, to []byte) []byte { return append(to, cells.Text(i)...) }
	case parquet.Int:
		return func(cells *parquet.Cells, i int, to []byte) []byte { return strconv.AppendInt(to, cells.Ints[i], 10) }
	case parquet.Uint:
		return func(cells *parquet.Cells, i int, to []byte) []byte {
			return strconv.AppendUint(to, uint64(cells.Ints[i]), 10)
		}
	case parquet.Float:
		return func(cells *parquet.Cells, i int, to []byte) []byte {
			x := cells.Floats[i]
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return to
			}
			return strconv.AppendFloat(to, x+0, 'f', -1, 64) // +0: not -0
		}
	case parquet.Nothing:
		return func(_ *parquet.Cells, _ int, to []byte) []byte { return to }
	}
	return nil
}
