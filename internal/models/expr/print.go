package expr

import (
	"strconv"
	"strings"
)

// String prints the shortest decimal that reads back as the same number.
func (e *Number) String() string { return strconv.FormatFloat(e.Value, 'g', -1, 64) }

// String prints the name.
func (e *Name) String() string { return e.ID }

// String prints the string in single quotes.
func (e *Text) String() string {
	escaped := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(e.Value)
	return "'" + escaped + "'"
}

// String prints the operator and its operand.
func (e *Unary) String() string {
	op := e.Op
	if op == "not" {
		op = "not "
	}
	return op + bracket(e.X, prefixPower(e.Op))
}

// String prints both operands with one space around the operator.
func (e *Binary) String() string {
	binds := infixPower(e.Op)
	left, right := binds, binds+1
	switch {
	case e.Op == "^": // right-associative; its exponent may carry a sign
		left, right = binds+1, powerSign
	case binds == powerCompare:
		left = binds + 1
	}
	return bracket(e.X, left) + " " + e.Op + " " + bracket(e.Y, right)
}

// String prints positional arguments, then name=value.
func (e *Call) String() string {
	parts := make([]string, len(e.Args))
	for i, a := range e.Args {
		parts[i] = a.Value.String()
		if a.Name != "" {
			parts[i] = a.Name + "=" + parts[i]
		}
	}
	return e.Func + "(" + strings.Join(parts, ", ") + ")"
}

// String prints x[i, j], and a space before the dims of a call.
func (e *Index) String() string {
	space := ""
	if _, ok := e.X.(*Call); ok {
		space = " "
	}
	return bracket(e.X, powerPostfix) + space + "[" + join(e.Indices) + "]"
}

// String prints x.name.
func (e *Member) String() string { return bracket(e.X, powerPostfix) + "." + e.Name }

// String prints [a, b].
func (e *List) String() string { return "[" + join(e.Items) + "]" }

func join(es []Expr) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = e.String()
	}
	return strings.Join(parts, ", ")
}

// bracket prints e, in brackets if its operator binds looser than power.
func bracket(e Expr, power int) string {
	if binding(e) < power {
		return "(" + e.String() + ")"
	}
	return e.String()
}

// binding is the power of the operator at the top of e.
func binding(e Expr) int {
	switch e := e.(type) {
	case *Unary:
		return prefixPower(e.Op)
	case *Binary:
		return infixPower(e.Op)
	}
	return powerPostfix
}
