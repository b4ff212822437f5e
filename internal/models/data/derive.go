package data

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// Derivation computes a derived column from other columns of the same record.
type Derivation struct {
	Text source.Value[string]
	Expr expr.Expr // in the unit of the file; nil when Text has mistakes
	// InFormula means that the column is a term of the formula, such as log(age).
	InFormula bool
	// Merged are the levels of a category that joins levels of another; empty for others.
	Merged []Merge
	// Follows means that the bounds follow from those of the columns in the expression.
	Follows bool
}

// conditions are the operators whose result is 0 or 1.
var conditions = []string{"==", "!=", "<", "<=", ">", ">=", "and", "or"}

// isCondition reports whether an expression is 0 or 1 in every record.
func isCondition(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Unary:
		return e.Op == "not"
	case *expr.Binary:
		return slices.Contains(conditions, e.Op)
	}
	return false
}

// Complete types a derived column. A number without declared bounds gets those that follow
// from its columns. The error states why they have no bounds.
func (d *Data) Complete(c *Column) error {
	for _, name := range expr.Names(c.Derive.Expr) {
		if of := d.Column(name); of == nil || of == c {
			return fmt.Errorf("%s is no column that is declared before it", name)
		} else if of.Missing.Rule == MissingModel || of.Missing.Rule == "" && d.Missing.Rule == MissingModel {
			return fmt.Errorf("missing values of %s are part of the model", name)
		}
	}
	if err := d.OneOrigin(c.Derive.Expr); err != nil {
		return err
	}
	c.Type.V, c.Type.At = Real, c.Name.At
	if is, err := d.category(c); is {
		return err
	}
	if isCondition(c.Derive.Expr) {
		c.Type.V = Binary // a condition
		c.Levels = []source.Value[string]{{V: "0"}, {V: "1"}}
		return nil
	}
	if c.Lower.IsSet() && c.Upper.IsSet() {
		return nil
	}
	c.Derive.Follows = !c.Lower.IsSet() && !c.Upper.IsSet()
	lower, upper, err := d.interval(c.Derive.Expr)
	if err != nil {
		return err
	}
	if !(lower < upper) || math.IsInf(lower, 0) || math.IsInf(upper, 0) {
		return fmt.Errorf("its values have no finite bounds")
	}
	if !c.Lower.IsSet() {
		c.Lower = source.Value[float64]{V: lower, At: c.Derive.Text.At}
	}
	if !c.Upper.IsSet() {
		c.Upper = source.Value[float64]{V: upper, At: c.Derive.Text.At}
	}
	return nil
}

// rising are the functions that rise with their argument, each with the numbers that
// it is defined for.
var rising = map[string]struct {
	of          func(float64) float64
	from, until float64
}{
	"log": {math.Log, 0, math.Inf(1)}, "log1p": {math.Log1p, -1, math.Inf(1)}, "sqrt": {math.Sqrt, 0, math.Inf(1)},
	"exp": {math.Exp, math.Inf(-1), math.Inf(1)}, "expm1": {math.Expm1, math.Inf(-1), math.Inf(1)},
	"atan": {math.Atan, math.Inf(-1), math.Inf(1)}, "tanh": {math.Tanh, math.Inf(-1), math.Inf(1)},
	"floor": {math.Floor, math.Inf(-1), math.Inf(1)}, "erf": {math.Erf, math.Inf(-1), math.Inf(1)},
}

// interval bounds an expression by interval arithmetic on the declared bounds of its
// columns.
func (d *Data) interval(e expr.Expr) (lower, upper float64, err error) {
	switch e := e.(type) {
	case *expr.Number:
		return e.Value, e.Value, nil
	case *expr.Name:
		switch c := d.Column(e.ID); {
		case c.Numeric():
			return c.Lower.V, c.Upper.V, nil
		case c.Type.V == Binary:
			return 0, 1, nil
		}
		return 0, 0, fmt.Errorf("%s is a category: compare it with a level, %s == 'level'", e.ID, e.ID)
	case *expr.Unary:
		if e.Op == "not" {
			return 0, 1, nil
		}
		lower, upper, err = d.interval(e.X)
		return -upper, -lower, err
	case *expr.Binary:
		if isCondition(e) {
			return 0, 1, nil
		}
		return d.combined(e)
	case *expr.Call:
		return d.called(e)
	}
	return 0, 0, fmt.Errorf("the bounds of %s are not known", e)
}

// undefinedError: an expression has no value for some number within its bounds.
type undefinedError string

func (e undefinedError) Error() string { return string(e) }

// Defined returns an error if an expression of declared columns has no value for some number
// within their bounds.
func (d *Data) Defined(e expr.Expr) error {
	_, _, err := d.interval(e)
	if errors.As(err, new(undefinedError)) {
		return err
	}
	return nil
}

// combined bounds x op y.
func (d *Data) combined(e *expr.Binary) (lower, upper float64, err error) {
	a, b, err := d.interval(e.X)
	if err != nil {
		return 0, 0, err
	}
	x, y, err := d.interval(e.Y)
	if err != nil {
		return 0, 0, err
	}
	var corners []float64
	switch e.Op {
	case "+":
		return a + x, b + y, nil
	case "-":
		return a - y, b - x, nil
	case "*":
		corners = []float64{a * x, a * y, b * x, b * y}
	case "/":
		if x <= 0 && y >= 0 {
			return 0, 0, undefinedError(fmt.Sprintf("%s can be 0, by which %s divides", e.Y, e))
		}
		corners = []float64{a / x, a / y, b / x, b / y}
	case "^":
		whole := x == y && x == math.Trunc(x)
		if a < 0 && !whole || a <= 0 && b >= 0 && x < 0 {
			return 0, 0, undefinedError(fmt.Sprintf("%s is not defined for every %s within its bounds", e, e.X))
		}
		corners = []float64{math.Pow(a, x), math.Pow(a, y), math.Pow(b, x), math.Pow(b, y)}
		if a < 0 && b > 0 {
			corners = append(corners, 0)
		}
	default:
		return 0, 0, fmt.Errorf("the bounds of %s are not known", e)
	}
	return slices.Min(corners), slices.Max(corners), nil
}

// called bounds a function of expressions.
func (d *Data) called(e *expr.Call) (lower, upper float64, err error) {
	var ends [][2]float64
	for _, arg := range e.Args {
		low, high, err := d.interval(arg.Value)
		if err != nil {
			return 0, 0, err
		}
		ends = append(ends, [2]float64{low, high})
	}
	f, ok := rising[e.Func]
	switch {
	case ok && len(ends) == 1:
		if lower, upper = f.of(ends[0][0]), f.of(ends[0][1]); ends[0][0] < f.from || math.IsInf(lower, 0) {
			return 0, 0, undefinedError(fmt.Sprintf("%s needs numbers above %g, but %s goes down to %g", e, f.from, e.Args[0].Value, ends[0][0]))
		}
		return lower, upper, nil
	case (e.Func == "abs" || e.Func == "square") && len(ends) == 1:
		low, high := math.Abs(ends[0][0]), math.Abs(ends[0][1])
		lower, upper = min(low, high), max(low, high)
		if ends[0][0] < 0 && ends[0][1] > 0 {
			lower = 0
		}
		if e.Func == "square" {
			lower, upper = lower*lower, upper*upper
		}
		return lower, upper, nil
	case (e.Func == "min" || e.Func == "max") && len(ends) == 2:
		of := math.Min
		if e.Func == "max" {
			of = math.Max
		}
		return of(ends[0][0], ends[1][0]), of(ends[0][1], ends[1][1]), nil
	case e.Func == "sin" || e.Func == "cos":
		return -1, 1, nil
	}
	return 0, 0, fmt.Errorf("the bounds of %s are not known: declare lower and upper", e)
}

// Condition is the comparison of one column of the file with a constant, `num > 0` or
// `y == 'level'`. Records can be simulated for it.
type Condition struct {
	Column     *Column
	Met, Unmet float64 // a value of the column with which it holds, and one with which it does not
}

// ConditionOf is the comparison of a derived column.
func (d *Data) ConditionOf(c *Column) (Condition, error) {
	compared := fmt.Errorf("it must compare a column of the file with a constant, as in num > 0 or y == 'level'")
	e, ok := c.Derive.Expr.(*expr.Binary)
	if !ok || !isCondition(e) {
		return Condition{}, compared
	}
	name, ok := e.X.(*expr.Name)
	if !ok {
		return Condition{}, compared
	}
	of := Condition{Column: d.Column(name.ID), Met: math.NaN(), Unmet: math.NaN()}
	if of.Column == nil || of.Column.Derive != nil {
		return Condition{}, compared
	}
	var values []float64
	var constant float64
	switch label, isText := e.Y.(*expr.Text); {
	case of.Column.Numeric():
		var err error
		if constant, _, err = d.interval(e.Y); err != nil || len(expr.Names(e.Y)) > 0 {
			return Condition{}, compared
		}
		values = []float64{of.Column.Lower.V, of.Column.Upper.V}
		if of.Column.Lower.V < constant && constant < of.Column.Upper.V {
			values = append(values, constant)
		}
	case !isText || of.Column.Level(label.Value) < 0:
		return Condition{}, fmt.Errorf("%s is no level of %s", e.Y, name.ID)
	default:
		constant = float64(of.Column.Level(label.Value))
		for l := range of.Column.Levels {
			values = append(values, float64(l))
		}
	}
	for _, v := range values {
		holds := map[string]bool{"==": v == constant, "!=": v != constant, "<": v < constant, "<=": v <= constant, ">": v > constant, ">=": v >= constant}
		if _, comparison := holds[e.Op]; !comparison {
			return Condition{}, compared
		}
		if holds[e.Op] {
			of.Met = v
		} else {
			of.Unmet = v
		}
	}
	if math.IsNaN(of.Met) || math.IsNaN(of.Unmet) {
		return Condition{}, fmt.Errorf("%s is the same for every declared value of %s", e, name.ID)
	}
	return of, nil
}
