package expr

// Expr is a node of the syntax tree.
type Expr interface {
	// Pos is where the expression starts; for a binary operation, its operator.
	Pos() Position
	// String prints the canonical form: one space around binary operators,
	// no bracket that precedence makes needless. Parse(String(x)) = x.
	String() string
}

// Number is a literal such as 1, 0.5 or 1e-6. It is never negative.
type Number struct {
	At    Position
	Value float64
}

// Name is a reference to a column, parameter, let or dim; it may have dots.
type Name struct {
	At Position
	ID string
}

// Text is a quoted string: a label of a dim or a level of a column.
type Text struct {
	At    Position
	Value string
}

// Unary is an operator before its operand: "-" or "not".
type Unary struct {
	At Position
	Op string
	X  Expr
}

// Binary is an operator between operands: + - * / ^ @ == != < <= > >= and or.
type Binary struct {
	At   Position
	Op   string
	X, Y Expr
}

// Argument of a call; Name is empty for a positional one.
type Argument struct {
	At    Position
	Name  string
	Value Expr
}

// Call applies a function or a distribution.
type Call struct {
	At   Position
	Func string
	Args []Argument
}

// Index selects along the leading dims of X, one index per dim: a quoted label,
// a number (a label, too), a column, or the dim's own name for all of it. After
// a prior's distribution the indices are the dims of the parameter.
type Index struct {
	At      Position
	X       Expr
	Indices []Expr
}

// Member selects a named part of a call: encoder(img).loc.
type Member struct {
	At   Position
	X    Expr
	Name string
}

// List is a bracketed list: [30, 90, 365].
type List struct {
	At    Position
	Items []Expr
}

// Pos returns the place of the literal.
func (e *Number) Pos() Position { return e.At }

// Pos returns the place of the name.
func (e *Name) Pos() Position { return e.At }

// Pos returns the place of the opening quote.
func (e *Text) Pos() Position { return e.At }

// Pos returns the place of the operator.
func (e *Unary) Pos() Position { return e.At }

// Pos returns the place of the operator.
func (e *Binary) Pos() Position { return e.At }

// Pos returns the place of the function's name.
func (e *Call) Pos() Position { return e.At }

// Pos returns the place of the indexed expression.
func (e *Index) Pos() Position { return e.At }

// Pos returns the place of the expression with the member.
func (e *Member) Pos() Position { return e.At }

// Pos returns the place of the opening bracket.
func (e *List) Pos() Position { return e.At }

// Walk calls visit for e and everything below it, parents first; a visit that
// returns false keeps Walk out of that node's children.
func Walk(e Expr, visit func(Expr) bool) {
	if !visit(e) {
		return
	}
	switch e := e.(type) {
	case *Unary:
		Walk(e.X, visit)
	case *Binary:
		Walk(e.X, visit)
		Walk(e.Y, visit)
	case *Call:
		for _, a := range e.Args {
			Walk(a.Value, visit)
		}
	case *Index:
		Walk(e.X, visit)
		for _, i := range e.Indices {
			Walk(i, visit)
		}
	case *Member:
		Walk(e.X, visit)
	case *List:
		for _, i := range e.Items {
			Walk(i, visit)
		}
	}
}

// Names are the names that e refers to, each once, in order of appearance. The
// names of functions and of keyword arguments are not among them.
func Names(e Expr) []string {
	var names []string
	seen := map[string]bool{}
	Walk(e, func(x Expr) bool {
		if n, ok := x.(*Name); ok && !seen[n.ID] {
			seen[n.ID] = true
			names = append(names, n.ID)
		}
		return true
	})
	return names
}
