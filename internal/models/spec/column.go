package spec

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
	"d3p/internal/spell"
)

// readColumn reads the declaration of one column.
func readColumn(r *reader, e entry) (*data.Column, bool) {
	c := &data.Column{Name: e.name()}
	keys := r.column(e, c)
	if !source.IsName(c.Name.V) {
		r.Add(c.Name.At, "give it a plain name and write `header: \""+c.Name.V+"\"`", "column %q cannot be named in a formula", c.Name.V)
	}
	if keys != nil {
		r.checkColumn(c, keys)
	}
	if n, bought := r.spec.bought.Numbers[c.Name.V]; bought && c.BuysNumbers() {
		c.Settle(n)
	}
	if names, bought := r.spec.bought.Levels[c.Name.V]; c.BuysLevels() && bought {
		c.SettleLevels(names)
	} else if c.BuysLevels() {
		c.OpenLevels()
	}
	return c, true
}

// column reads the keys of a column; nil if it cannot be read.
func (r *reader) column(e entry, c *data.Column) present {
	keys := r.object(e, "column "+e.key, columnFields(&r.spec.Data, c))
	r.checkDates(c)
	return keys
}

// columnFields are the keys of a column.
func columnFields(d *data.Data, c *data.Column) []field {
	numeric := c.Numeric()
	open := c.Prices.Bounds.IsSet() && !c.Settled
	return []field{
		choice("type", &c.Type, data.ColumnTypes...).means("the kind of value"),
		text("header", &c.Header).means("the column's name in the file, if that is not a plain name"),
		origin(c).means("the day from which dates count; default: lower"),
		dated("lower", &c.Lower, &c.Dates.Lower).as(func() string { return c.Cell(c.Lower.V) }).means("the smallest possible value, a number or a date; required for numbers and dates").when(numeric && !open),
		dated("upper", &c.Upper, &c.Dates.Upper).as(func() string { return c.Cell(c.Upper.V) }).means("the largest possible value").when(numeric && !open),
		bounds(c).means("bounds that are bought, in place of lower and upper; without scale the scale is bought, too").when(open),
		text("symbol", &c.Symbol).means("text before or after the numbers in the file, such as kg, % or $, which is no part of them").when(numeric),
		choice("transform", &c.Transform, data.TransformNames()...).means("of a number after clamping; the scale is in its unit").when(numeric),
		scale(c).means("the unit of priors: the model sees (x - center) / by").when(numeric && !(open && c.OpenScale() && !c.Prices.Scale.IsSet())),
		levels(c).means("of a binary column (default 0 and 1), a category or an ordinal column, in order; or 1..61 for whole numbers; or with other spellings in the file, {no: [n, \"0\"], yes: [y, \"1\"]}; case does not matter where it does not tell levels apart").when(!numeric),
		text("levels_from", &c.LevelsFrom).unprinted().means("a public list of levels: file.csv#column"),
		text("reference", &c.Reference).as(func() string { return flowText(c.Levels[c.ReferenceLevel()].V) }).means("the level without a coefficient; default: the first, of bought ones the commonest").when(!numeric && c.Type.V != data.Binary && (!c.BuysLevels() || c.Settled || c.Reference.IsSet())),
		text("unknown", &c.Unknown).or(data.RejectRow).means("the level that replaces undeclared ones; without it a record with one contributes nothing").when(!numeric),
		text("source", &c.Source).means("where the constants come from, such as codebook, expert or physics; for the privacy report"),
		text("constant_within", &c.ConstantWithin).means("the group within which the column has one value; none: it varies within groups"),
		field{key: "missing", read: func(r *reader, e entry) { c.Missing = r.missingRule(e) }}.means("what a missing value means").as(func() string { return missingText(d.MissingOf(c)) }),
		distinct("missing_tokens", "token", &c.MissingTokens).means("cells without a value in this column, besides those of the table: [99, refused]"),
	}
}

// bounds is `bounds: {dp: epsilon, within: [a, b]}`: bounds that are bought between two
// limits, in place of lower and upper.
func bounds(c *data.Column) field {
	within := field{key: "within", read: func(r *reader, e entry) { r.within(e, c) }}.means("limits that hold for sure, [0, 200]; they may be a hundred times too wide").
		needed("add `within: [a, b]` with limits that surely hold", "bounds that are bought need limits").
		as(func() string { return "[" + c.Cell(c.Lower.V) + ", " + c.Cell(c.Upper.V) + "]" })
	f := inline("bounds", []field{
		value("dp", &c.Prices.Bounds, (*reader).epsilonOf).needed("add `dp:` with the epsilon that the bounds may cost", "bounds have no price").means("the price of the bounds: the epsilon that they would cost alone"),
		within,
	})
	f.stated = func() bool { return c.Prices.Bounds.IsSet() }
	return f
}

// within reads the limits between which bounds are bought.
func (r *reader) within(e entry, c *data.Column) {
	if r.describesList("number", "string") {
		return
	}
	list, ok := e.node.(*ast.SequenceNode)
	if !ok || len(list.Values) != 2 {
		r.Add(r.at(e.node), "write [0, 120]", "within must be the lowest and the highest possible value")
		return
	}
	for i, f := range []field{dated("within", &c.Lower, &c.Dates.Lower), dated("within", &c.Upper, &c.Dates.Upper)} {
		f.read(r, entry{"within", r.at(list.Values[i]), list.Values[i]})
	}
}

// scale is `scale: {center:, by:}`, or `{dp: epsilon}` for a scale to buy. If the file
// states none, the one that follows from the bounds is printed.
func scale(c *data.Column) field {
	return mapping("scale", []field{dated("center", &c.Center, &c.Dates.Center).means("default: the middle of the bounds"), positive("by", &c.By).means("default: the distance of the bounds by √12"),
		value("dp", &c.Prices.Scale, (*reader).epsilonOf).means("buys the scale, for the epsilon that it would cost alone")}).
		as(func() string {
			if c.Prices.Scale.IsSet() && !c.Settled {
				return "{dp: " + source.FormatNumber(c.Prices.Scale.V) + "}"
			}
			return scaleText(c.Scale())
		})
}

// derivedScale is the scale of a derived column, which is not bought.
func derivedScale(c *data.Column) field {
	return mapping("scale", []field{number("center", &c.Center).means("default: the middle of the bounds"), positive("by", &c.By).means("default: the distance of the bounds by √12")}).
		as(func() string { return scaleText(c.Scale()) })
}

// scaleText prints a scale.
func scaleText(center, by float64) string {
	return "{center: " + source.FormatNumber(center) + ", by: " + source.FormatNumber(by) + "}"
}

// levels is `levels:` as the list of them, or `{dp: epsilon, most: 50}` for levels to buy.
func levels(c *data.Column) field {
	f := texts("levels", &c.Levels)
	list := f.print
	f.read = func(r *reader, e entry) { r.levels(e, c) }
	f.print = func(p *printer) {
		switch {
		case c.BuysLevels() && !c.Settled:
			p.line("levels", flow(levelPrices(c)))
		case c.Spelled != nil:
			p.line("levels", mergesText(c.Spelled))
		default:
			list(p)
		}
	}
	return f
}

// levelPrices are the keys of levels that are bought.
func levelPrices(c *data.Column) []field {
	return []field{
		value("dp", &c.Prices.Levels, (*reader).epsilonOf).needed("add `dp:` with the epsilon that the levels may cost, or list them", "levels have no price").means("the price of the levels: the epsilon that they would cost alone"),
		count("most", &c.Prices.MostLevels, 2).or(strconv.Itoa(data.DefaultMostLevels)).means("the largest number of levels to buy: the most frequent ones"),
	}
}

// levels reads a list of levels, or the first and the last of whole numbers, as in
// 1..61.
func (r *reader) levels(e entry, c *data.Column) {
	r.describes("string") // besides the list
	switch n := e.node.(type) {
	case *ast.MappingNode:
		r.describesList(scalarTypes...) // before the values of the mapping
		spelled := slices.ContainsFunc(n.Values, func(v *ast.MappingValueNode) bool { return v.Value.Type() == ast.SequenceType })
		if r.shape != nil || !spelled {
			r.object(e, "levels", levelPrices(c))
		}
		if r.shape != nil || spelled {
			r.spelled(e, c)
		}
	case *ast.StringNode:
		c.Levels = r.wholeLevels(n)
	default:
		c.Levels = r.texts(e)
		r.unique("level", c.Levels)
		if list, ok := n.(*ast.SequenceNode); ok && len(list.Values) == 0 {
			r.Add(e.at, needLevels, "column %s needs at least two levels", c.Name.V)
		}
	}
}

// spelled reads levels with their other spellings in the file, {no: [n, "0"], yes: [y, "1"]}.
func (r *reader) spelled(e entry, c *data.Column) {
	list, _ := r.entries(e.node, "levels")
	var all []source.Value[string]
	for _, e := range list {
		m := data.Merge{Level: e.name(), From: r.texts(e)}
		all = append(append(all, m.Level), m.From...)
		c.Levels, c.Spelled = append(c.Levels, m.Level), append(c.Spelled, m)
	}
	r.unique("spelling", all)
}

const needLevels = "declare `levels: [a, b]` or `levels_from: file.csv#column`"

// checkColumn reports missing and superfluous parts of a column's declaration.
func (r *reader) checkColumn(c *data.Column, keys present) {
	if keys["levels"] && len(c.Levels) == 0 && !c.BuysLevels() {
		r.spec.unlisted = append(r.spec.unlisted, c)
	}
	switch c.Type.V {
	case "":
		if !keys["type"] {
			r.Add(c.Name.At, "add `type:` with one of "+strings.Join(data.ColumnTypes, ", "), "column %s has no type", c.Name.V)
		}
		return
	case data.Real, data.Integer, data.Date:
		if at := firstAt(c.Levels); at.Line > 0 && !keys["lower"] && !keys["upper"] {
			r.Add(at, "declare it as `type: category`, or `type: ordinal`, or `type: binary`; or as a number with `lower:` and `upper:` in place of levels", "a column of type %s has no levels", c.Type.V)
			return
		}
		r.checkBounds(c, keys)
		r.checkSymbol(c)
		r.refuse(c, "levels", c.LevelsFrom.At, firstAt(c.Levels), c.Prices.Levels.At, c.Reference.At, c.Unknown.At)
	default:
		r.refuse(c, "symbol", c.Symbol.At)
		r.refuse(c, "bounds, scale or transform", c.Lower.At, c.Upper.At, c.Transform.At, c.Center.At, c.By.At, c.Prices.Bounds.At, c.Prices.Scale.At)
		r.checkLevelPrices(c)
	}
	for _, token := range c.MissingTokens {
		if c.Level(token.V) >= 0 {
			r.Add(token.At, "leave it out of one of the two", "%s is a level of %s", token.V, c.Name.V)
		}
	}
}

// checkSymbol reports a symbol that could be a part of a number.
func (r *reader) checkSymbol(c *data.Column) {
	switch {
	case c.Symbol.IsSet() && c.Type.V == data.Date:
		r.refuse(c, "symbol", c.Symbol.At)
	case c.Symbol.IsSet() && strings.Trim(c.Symbol.V, "0123456789+-.,' ") == "":
		r.Add(c.Symbol.At, "write the text beside the numbers, as in `symbol: kg`", "symbol %q may be a part of a number", c.Symbol.V)
	}
}

// refuse reports settings that the column's type cannot have.
func (r *reader) refuse(c *data.Column, what string, at ...expr.Position) {
	for _, p := range at {
		if p.Line > 0 {
			r.Add(p, "", "a column of type %s has no %s", c.Type.V, what)
			return
		}
	}
}

func firstAt(list []source.Value[string]) expr.Position {
	if len(list) == 0 {
		return expr.Position{}
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
			r.Add(c.Name.At, "declare the codebook's limits, not those of the data; or buy both: `bounds: {dp: 0.1, within: [0, 120]}`", "column %s has no %s bound", c.Name.V, b.name)
		} else if b.bound.IsSet() && c.Type.V == data.Integer && b.bound.V != math.Trunc(b.bound.V) {
			r.Add(b.bound.At, "", "the bounds of an integer are whole numbers, not %s", source.FormatNumber(b.bound.V))
		}
	}
	if keys["bounds"] && (keys["lower"] || keys["upper"]) {
		r.Add(c.Prices.Bounds.At, "leave lower and upper out: `within:` has the limits", "column %s has bounds that are declared and bought", c.Name.V)
	}
	if c.Prices.Scale.IsSet() && (c.Center.IsSet() || c.By.IsSet()) {
		r.Add(c.Prices.Scale.At, "keep `dp:`, or center and by", "column %s has a scale that is declared and bought", c.Name.V)
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
			return
		}
	}
	if err := c.CheckRange(); err != nil {
		r.Add(c.Name.At, "give the column another unit, with `lower:`, `upper:` and `scale: {center:, by:}` of the size of its values", "%v", err)
	}
}

// checkLevels reports missing parts of a category's levels. It runs after the levels are
// read, perhaps from a file.
func (r *reader) checkLevels(c *data.Column) {
	if slices.Contains(r.spec.unlisted, c) || c.BuysLevels() {
		return
	}
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
		if len(c.Levels) < 2 {
			at := c.Name.At
			if len(c.Levels) == 1 {
				at = c.Levels[0].At
			}
			hint := needLevels
			if c.Type.V == data.Category {
				hint += "; or buy them: `levels: {dp: 0.1}, unknown: other`"
			}
			r.Add(at, hint, "column %s needs at least two levels", c.Name.V)
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
