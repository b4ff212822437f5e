package special

import "math"

// Dual is a number V with its derivatives A and B in two variables, for functions whose
// derivatives have no closed form. Arithmetic computes the derivatives, too.
type Dual struct{ V, A, B float64 }

func constant(v float64) Dual { return Dual{V: v} }

func (x Dual) plus(y Dual) Dual  { return Dual{x.V + y.V, x.A + y.A, x.B + y.B} }
func (x Dual) minus(y Dual) Dual { return Dual{x.V - y.V, x.A - y.A, x.B - y.B} }

func (x Dual) scaled(s float64) Dual { return Dual{x.V * s, x.A * s, x.B * s} }

func (x Dual) times(y Dual) Dual {
	return Dual{x.V * y.V, x.A*y.V + x.V*y.A, x.B*y.V + x.V*y.B}
}

func (x Dual) over(y Dual) Dual {
	q := x.V / y.V
	return Dual{q, (x.A - q*y.A) / y.V, (x.B - q*y.B) / y.V}
}

func (x Dual) log() Dual { return Dual{math.Log(x.V), x.A / x.V, x.B / x.V} }
