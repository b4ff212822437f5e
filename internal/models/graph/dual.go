package graph

import "math"

// dual is a number with its derivatives in two variables, for functions whose
// derivatives have no closed form: arithmetic carries them along.
type dual struct{ v, a, b float64 }

func constant(v float64) dual { return dual{v: v} }

func (x dual) plus(y dual) dual  { return dual{x.v + y.v, x.a + y.a, x.b + y.b} }
func (x dual) minus(y dual) dual { return dual{x.v - y.v, x.a - y.a, x.b - y.b} }

func (x dual) scaled(s float64) dual { return dual{x.v * s, x.a * s, x.b * s} }

func (x dual) times(y dual) dual {
	return dual{x.v * y.v, x.a*y.v + x.v*y.a, x.b*y.v + x.v*y.b}
}

func (x dual) over(y dual) dual {
	q := x.v / y.v
	return dual{q, (x.a - q*y.a) / y.v, (x.b - q*y.b) / y.v}
}

func (x dual) log() dual { return dual{math.Log(x.v), x.a / x.v, x.b / x.v} }
