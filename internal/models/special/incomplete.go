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
	p := math.Exp(log.V)
	other := log1mExp(log.V)
	ratio := -p / math.Exp(other)
	if p == 0 {
		ratio = 0
	}
	return Tails{log, Dual{other, ratio * log.A, ratio * log.B}}
}

// log1mExp is log(1-exp(x)) for x <= 0. Mächler 2012, "Accurately computing
// log(1-exp(-|a|))".
func log1mExp(x float64) float64 {
	if x > -math.Ln2 {
		return math.Log(-math.Expm1(x))
	}
	return math.Log1p(-math.Exp(x))
}

// Series and continued fractions below converge after about the root of their
// largest argument; this many terms do for arguments up to 1e9.
const incompleteTerms = 200_000

// IncompleteGamma is log P(a, x) and log Q(a, x), the regularised incomplete
// gamma functions, with derivatives in a. For a <= 0, P is 1.
// Series and continued fraction: Abramowitz and Stegun 6.5.29 and 6.5.31, the
// latter by Lentz's method; derivatives are carried along term by term.
func IncompleteGamma(a, x float64) Tails {
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
	shape := Dual{a, 1, 0}
	if x < a+1 {
		front := Dual{a*math.Log(x) - x - Lgamma(a+1), math.Log(x) - Digamma(a+1), 0}
		term := constant(1)
		total := term
		for n := 1; n < incompleteTerms && term.V > 1e-17*total.V; n++ {
			term = term.scaled(x).over(shape.plus(constant(float64(n))))
			total = total.plus(term)
		}
		return tailsFrom(front.plus(total.log()))
	}
	front := Dual{a*math.Log(x) - x - Lgamma(a), math.Log(x) - Digamma(a), 0}
	var f fraction
	b := constant(x + 1).minus(shape)
	f.begin(b)
	for n := 1; n < incompleteTerms; n++ {
		k := float64(n)
		b = b.plus(constant(2))
		if f.add(shape.minus(constant(k)).scaled(k), b) {
			break
		}
	}
	return tailsFrom(front.plus(f.value.log())).swapped()
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
	const digits = 4e-16
	still := func(change, total float64) bool { return math.Abs(change) <= digits*(1+math.Abs(total/f.value.V)) }
	return math.IsNaN(step.V) ||
		math.Abs(step.V-1) <= digits && still(step.A, f.value.A) && still(step.B, f.value.B)
}
