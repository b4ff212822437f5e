package data

import (
	"fmt"
	"slices"

	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// The functions of columns whose value is a level. cut(age, 40, 60) has the levels
// below 40, 40 to 60, and 60 and above; cross(a, b) has one for each pair of levels.
const (
	cutFunction   = "cut"
	CrossFunction = "cross"
)

// A Merge names the levels of another column that are one level of a derived one, or the texts in
// the file that are one level.
type Merge struct {
	Level source.Value[string]
	From  []source.Value[string]
}

// Cut is x where e is cut(x, c_1, ..., c_k), with its constants, which rise; R's
// cut(x, c(c_1, ..., c_k)) is the same. ok is false for other expressions.
func Cut(e expr.Expr) (x expr.Expr, at []float64, ok bool, err error) {
	call, ok := e.(*expr.Call)
	if !ok || call.Func != cutFunction {
		return nil, nil, false, nil
	}
	usage := fmt.Errorf("write cut(x, 40, 60), with numbers that rise")
	if len(call.Args) < 2 {
		return nil, nil, true, usage
	}
	args := call.Args[1:]
	if c, isC := args[0].Value.(*expr.Call); isC && c.Func == "c" && len(args) == 1 {
		args = c.Args
	}
	for i, arg := range args {
		c, isNumber := constant(arg.Value)
		if !isNumber || arg.Name != "" || i > 0 && c <= at[i-1] {
			return nil, nil, true, usage
		}
		at = append(at, c)
	}
	return call.Args[0].Value, at, true, nil
}

// constant is the number that an expression is, signed or not.
func constant(e expr.Expr) (float64, bool) {
	switch e := e.(type) {
	case *expr.Number:
		return e.Value, true
	case *expr.Unary:
		c, ok := constant(e.X)
		return -c, ok && e.Op == "-"
	}
	return 0, false
}

// Crossed lists the columns a and b of cross(a, b); nil for other expressions.
func (d *Data) Crossed(e expr.Expr) []*Column {
	call, ok := e.(*expr.Call)
	if !ok || call.Func != CrossFunction {
		return nil
	}
	crossed := []*Column{}
	for _, arg := range call.Args {
		if name, isName := arg.Value.(*expr.Name); isName && d.Column(name.ID) != nil {
			crossed = append(crossed, d.Column(name.ID))
		}
	}
	return crossed
}

// category gives a derived column its levels where its expression, or a list of merged
// levels, makes it a category; false for others.
func (d *Data) category(c *Column) (is bool, err error) {
	x, at, cut, err := Cut(c.Derive.Expr)
	crossed := d.Crossed(c.Derive.Expr)
	switch {
	case len(c.Derive.Merged) > 0:
		c.Type.V = Category
		return true, d.merge(c)
	case cut:
		c.Type.V = Ordinal
		if err != nil {
			return true, err
		}
		return true, d.cut(c, x, at)
	case crossed != nil:
		c.Type.V = Category
		return true, cross(c, crossed)
	}
	return false, nil
}

// cut names the levels of a number cut at constants.
func (d *Data) cut(c *Column, x expr.Expr, at []float64) error {
	lower, upper, err := d.interval(x)
	if err != nil {
		return err
	}
	if at[0] <= lower || at[len(at)-1] > upper {
		return fmt.Errorf("a level has no numbers: %s lies between %s and %s", x, source.FormatNumber(lower), source.FormatNumber(upper))
	}
	for i := range len(at) + 1 {
		var name string
		switch i {
		case 0:
			name = "below " + source.FormatNumber(at[0])
		case len(at):
			name = source.FormatNumber(at[i-1]) + " and above"
		default:
			name = source.FormatNumber(at[i-1]) + " to " + source.FormatNumber(at[i])
		}
		c.Levels = append(c.Levels, source.Value[string]{V: name, At: c.Derive.Text.At})
	}
	return nil
}

// mostCrossed bounds the levels of a crossed column.
const mostCrossed = 1 << 20

// cross names the levels of two or more crossed categories, the last one fastest.
func cross(c *Column, of []*Column) error {
	names := []string{""}
	if len(of) < 2 {
		return fmt.Errorf("write cross(a, b) with the names of two categories")
	}
	for i, column := range of {
		if column.Numeric() || len(column.Levels) == 0 {
			return fmt.Errorf("%s is no category", column.Name.V)
		}
		if len(names)*len(column.Levels) > mostCrossed {
			return fmt.Errorf("it has more than %d levels", mostCrossed)
		}
		var longer []string
		for _, n := range names {
			for _, l := range column.LevelNames() {
				if i > 0 {
					l = n + ":" + l
				}
				longer = append(longer, l)
			}
		}
		names = longer
	}
	for _, n := range names {
		c.Levels = append(c.Levels, source.Value[string]{V: n, At: c.Derive.Text.At})
	}
	return nil
}

// merge names the levels into which levels of another category are merged.
func (d *Data) merge(c *Column) error {
	name, ok := c.Derive.Expr.(*expr.Name)
	if !ok || d.Column(name.ID).Numeric() {
		return fmt.Errorf("levels are merged from those of a category: write `is:` with its name")
	}
	of := d.Column(name.ID)
	var taken []string
	for _, m := range c.Derive.Merged {
		c.Levels = append(c.Levels, m.Level)
		for _, l := range m.From {
			switch {
			case of.Level(l.V) < 0:
				return fmt.Errorf("%s has no level %s", of.Name.V, l.V)
			case slices.Contains(taken, l.V):
				return fmt.Errorf("level %s of %s stands in two levels", l.V, of.Name.V)
			}
			taken = append(taken, l.V)
		}
	}
	for _, l := range of.LevelNames() {
		if !slices.Contains(taken, l) {
			return fmt.Errorf("level %s of %s stands in none of its levels", l, of.Name.V)
		}
	}
	return nil
}
