package special

import "math"

// Tails are the logarithms of a distribution function and of its complement,
// with their derivatives in two arguments.
type Tails struct{ Below, Above Dual }

// swapped exchanges the two sides.
func (t Tails) swapped() Tails { return Tails{t.Above, t.Below} }

// tailsFrom completes the other side from the side with a known logarithm: it is 1 minus
// that. If the known side is near 1 the other loses digits: its error is 1e-16 of 1.
func tailsFrom(log Dual) Tails {
	var other, ratio float64 // log(1-p) and -p/(1-p), as in Mächler 2012, "Accurately computing log(1-exp(-|a|))"
	if log.V > -math.Ln2 {
		minus := math.Expm1(log.V) // p-1
		other, ratio = math.Log(-minus), -(1+minus)/math.Abs(minus)
		if math.IsNaN(other) { // p > 1: no digits are left
			ratio = other
		}
	} else {
		p := math.Exp(log.V)
		other, ratio = math.Log1p(-p), -p/(1-p)
	}
	return Tails{log, Dual{other, ratio * log.A, ratio * log.B}}
}

// Series and continued fractions below converge after about the root of their
// largest argument; this many terms do for arguments up to 1e9.
const incompleteTerms = 200_000

// IncompleteGamma is log P(a, x) and log Q(a, x), the regularised incomplete
// gamma functions, with derivatives in a. For a <= 0, P is 1.
func IncompleteGamma(a, x float64) Tails {
	s := NewGammaShape(a)
	return s.Incomplete(x)
}

// GammaShape is a shape with what all its incomplete gamma functions share.
type GammaShape struct {
	a                       float64
	lgamma, digamma         float64 // at a
	nextLgamma, nextDigamma float64 // at a + 1
}

// NewGammaShape is for the shape a.
func NewGammaShape(a float64) GammaShape {
	return GammaShape{a, Lgamma(a), Digamma(a), Lgamma(a + 1), Digamma(a + 1)}
}

// Incomplete is IncompleteGamma at x. Series and continued fraction: Abramowitz and Stegun
// 6.5.29 and 6.5.31, the latter by Lentz's method; derivatives are carried along term by
// term.
func (s *GammaShape) Incomplete(x float64) Tails {
	a := s.a
	impossible, certain := Dual{V: math.Inf(-1)}, Dual{}
	switch {
	case math.IsNaN(a) || math.IsNaN(x):
		nan := Dual{V: math.NaN()}
		return Tails{nan, nan}
	case a <= 0 || math.IsInf(x, 1):
		return Tails{certain, impossible}
	case x <= 0 || math.IsInf(a, 1):
		return Tails{impossible, certain}
	}
	logX := math.Log(x)
	if x < a+1 {
		front := Dual{a*logX - x - s.nextLgamma, logX - s.nextDigamma, 0}
		return tailsFrom(front.plus(gammaSeries(a, x).log()))
	}
	front := Dual{a*logX - x - s.lgamma, logX - s.digamma, 0}
	return tailsFrom(front.plus(gammaFraction(a, x).log())).swapped()
}

// gammaSeries is the sum of xⁿ/((a+1)...(a+n)) with its derivative in a.
func gammaSeries(a, x float64) Dual {
	term, total := Dual{V: 1}, Dual{V: 1}
	for n := 1; n < incompleteTerms && term.V > 1e-17*total.V; n++ {
		r := 1 / (a + float64(n))
		term.V *= x * r
		term.A = (term.A*x - term.V) * r
		total.V += term.V
		total.A += term.A
	}
	return total
}

// gammaFraction is 1/(x+1-a - 1(1-a)/(x+3-a - ...)) with its derivative in a: a fraction
// whose coefficients have few terms.
func gammaFraction(a, x float64) Dual {
	b := x + 1 - a
	d := Dual{V: 1 / b}
	d.A = d.V * d.V
	c, value := Dual{V: 1e300}, d
	for n := 1; n < incompleteTerms; n++ {
		k := float64(n)
		up := (a - k) * k // of derivative k; that of b is -1
		b += 2
		slope := k*d.V + up*d.A - 1
		d.V = 1 / (b + up*d.V)
		d.A = -slope * d.V * d.V
		r := 1 / c.V
		c.V = b + up*r
		c.A = (k-up*r*c.A)*r - 1
		step := Dual{V: c.V * d.V, A: c.A*d.V + c.V*d.A}
		value.A = value.A*step.V + value.V*step.A
		value.V *= step.V
		if converged(step, value) {
			break
		}
	}
	return value
}

// IncompleteBeta is log I(a, b) and the log of its complement, the regularised
// incomplete beta function at logistic(u), with derivatives in a and b. I is 1
// for a <= 0 and 0 for b <= 0.
// Continued fraction: Abramowitz and Stegun 26.5.8, by Lentz's method.
func IncompleteBeta(u, a, b float64) Tails {
	impossible, certain := Dual{V: math.Inf(-1)}, Dual{}
	switch {
	case math.IsNaN(u) || math.IsNaN(a) || math.IsNaN(b):
		nan := Dual{V: math.NaN()}
		return Tails{nan, nan}
	case a <= 0 || math.IsInf(u, 1):
		return Tails{certain, impossible}
	case b <= 0 || math.IsInf(u, -1):
		return Tails{impossible, certain}
	}
	x := Sigmoid(u)
	if x >= (a+1)/(a+b+2) {
		t := betaFraction(-u, b, a)
		t.Above.A, t.Above.B = t.Above.B, t.Above.A
		t.Below.A, t.Below.B = t.Below.B, t.Below.A
		return t.swapped()
	}
	return betaFraction(u, a, b)
}

// betaFraction is IncompleteBeta where logistic(u) is small.
func betaFraction(u, a, b float64) Tails {
	x, one := Sigmoid(u), constant(1)
	logX, log1mX := -Softplus(-u), -Softplus(u)
	p, q := Dual{a, 1, 0}, Dual{b, 0, 1}
	front := Dual{
		a*logX + b*log1mX + Lgamma(a+b) - Lgamma(a+1) - Lgamma(b),
		logX + Digamma(a+b) - Digamma(a+1), log1mX + Digamma(a+b) - Digamma(b),
	}
	var f fraction
	f.begin(one)
	for n := range incompleteTerms {
		k := constant(float64(n))
		even := p.plus(k).plus(k)
		odd := p.plus(k).times(p.plus(q).plus(k)).scaled(-x).over(even.times(even.plus(one)))
		f.add(odd, one)
		k = k.plus(one)
		even = p.plus(k).plus(k)
		if f.add(k.times(q.minus(k)).scaled(x).over(even.minus(one).times(even)), one) {
			break
		}
	}
	return tailsFrom(front.plus(f.value.log()))
}

// fraction evaluates 1/(b₀ + a₁/(b₁ + a₂/(b₂ + ...))) from the front.
// Lentz 1976, Applied Optics 15, 668-671, in Thompson and Barnett's form.
type fraction struct{ c, d, value Dual }

// begin takes b₀.
func (f *fraction) begin(b Dual) {
	f.d = constant(1).over(b)
	f.c, f.value = constant(1e300), f.d
}

// add takes the next two coefficients and reports whether the value and its derivatives
// have converged. If a coefficient is 0 only the value counts.
func (f *fraction) add(a, b Dual) bool {
	f.d = constant(1).over(b.plus(a.times(f.d)))
	f.c = b.plus(a.over(f.c))
	step := f.c.times(f.d)
	f.value = f.value.times(step)
	return converged(step, f.value)
}

// converged reports whether the last factor, step, of a fraction of that value is 1.
func converged(step, value Dual) bool {
	const digits = 4e-16
	still := func(change, total float64) bool { return math.Abs(change) <= digits*(1+math.Abs(total/value.V)) }
	return math.IsNaN(step.V) ||
		math.Abs(step.V-1) <= digits && still(step.A, value.A) && still(step.B, value.B)
}
