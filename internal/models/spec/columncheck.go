package spec

import (
	"math"
	"strings"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
	"d3p/internal/spell"
)

// checkColumn reports what a column's declaration lacks or has in excess.
func (r *reader) checkColumn(c *data.Column, keys present) {
	switch c.Type.V {
	case "":
		if !keys["type"] {
			r.Add(c.Name.At, "add `type:` with one of "+strings.Join(data.ColumnTypes, ", "), "column %s has no type", c.Name.V)
		}
		return
	case data.Real, data.Integer, data.Date:
		r.checkBounds(c, keys)
		r.refuse(c, "levels", c.LevelsFrom.At, firstAt(c.Levels), c.Reference.At, c.Unknown.At)
	default:
		r.refuse(c, "bounds, scale or transform", c.Lower.At, c.Upper.At, c.Transform.At, c.Center.At, c.By.At)
	}
}

// refuse reports settings that the column's type cannot have.
func (r *reader) refuse(c *data.Column, what string, at ...Position) {
	for _, p := range at {
		if p.Line > 0 {
			r.Add(p, "", "a column of type %s has no %s", c.Type.V, what)
			return
		}
	}
}

func firstAt(list []source.Value[string]) Position {
	if len(list) == 0 {
		return Position{}
	}
	return list[0].At
}

// checkBounds demands both bounds of a number, in order, and fitting the
// transform: without them a single record could move the fit without limit.
func (r *reader) checkBounds(c *data.Column, keys present) {
	for _, b := range []struct {
		name  string
		bound source.Value[float64]
	}{{"lower", c.Lower}, {"upper", c.Upper}} {
		if !keys[b.name] && !keys["bounds"] {
			r.Add(c.Name.At, "declare what the codebook allows, not what the data hold", "column %s has no %s bound", c.Name.V, b.name)
		} else if b.bound.IsSet() && c.Type.V == data.Integer && b.bound.V != math.Trunc(b.bound.V) {
			r.Add(b.bound.At, "", "the bounds of an integer are whole numbers, not %s", source.FormatNumber(b.bound.V))
		}
	}
	if !c.Lower.IsSet() || !c.Upper.IsSet() {
		return
	}
	if c.Lower.V >= c.Upper.V {
		r.Add(c.Upper.At, "", "upper must be above lower, %s, not %s", c.Cell(c.Lower.V), c.Cell(c.Upper.V))
		return
	}
	for _, t := range data.Transforms {
		if t.Name == c.Transform.V && !t.Fits(c.Lower.V, c.Upper.V) {
			r.Add(c.Transform.At, "move the bounds", "transform %s needs bounds %s, not [%s, %s]", t.Name, t.Want, source.FormatNumber(c.Lower.V), source.FormatNumber(c.Upper.V))
		}
	}
}

// checkLevels reports what the levels of a category lack; they may have come
// from a file, so this runs after those are read.
func (r *reader) checkLevels(c *data.Column) {
	switch c.Type.V {
	case data.Binary:
		if len(c.Levels) == 0 && !c.LevelsFrom.IsSet() {
			c.Levels = []source.Value[string]{{V: "0"}, {V: "1"}}
		}
		if len(c.Levels) != 2 {
			r.Add(c.Levels[0].At, "the first level counts as 0, the second as 1", "a binary column has two levels, not %d", len(c.Levels))
		}
		if c.Reference.IsSet() {
			r.Add(c.Reference.At, "put that level first", "a binary column has no reference")
		}
	case data.Category, data.Ordinal:
		if c.Bought {
			return
		}
		if len(c.Levels) < 2 {
			at := c.Name.At
			if len(c.Levels) == 1 {
				at = c.Levels[0].At
			}
			r.Add(at, "declare `levels: [a, b]` or `levels_from: file.csv#column`", "column %s needs at least two levels", c.Name.V)
			return
		}
	default:
		return
	}
	for _, v := range []source.Value[string]{c.Reference, c.Unknown} {
		if v.IsSet() && v.V != data.RejectRow && c.Level(v.V) < 0 {
			r.Add(v.At, spell.Suggest(v.V, "levels", c.LevelNames()), "%s is no level of %s", v.V, c.Name.V)
		}
	}
}
