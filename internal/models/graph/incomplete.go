package graph

import "math"

// tails are the logarithms of a distribution function and of its complement,
// with their derivatives in two arguments.
type tails struct{ below, above dual }

// swapped exchanges the two sides.
func (t tails) swapped() tails { return tails{t.above, t.below} }

// tailsFrom completes the side whose logarithm is known: the other is one less
// it. Where that is near 1 the other loses digits: its error is 1e-16 of 1.
func tailsFrom(log dual) tails {
	p := math.Exp(log.v)
	other := log1mExp(log.v)
	ratio := -p / math.Exp(other)
	if p == 0 {
		ratio = 0
	}
	return tails{log, dual{other, ratio * log.a, ratio * log.b}}
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

// incompleteGamma is log P(a, x) and log Q(a, x), the regularised incomplete
// gamma functions, with derivatives in a. For a <= 0, P is 1.
// Series and continued fraction: Abramowitz and Stegun 6.5.29 and 6.5.31, the
// latter by Lentz's method; derivatives are carried along term by term.
func incompleteGamma(a, x float64) tails {
	impossible, certain := dual{v: math.Inf(-1)}, dual{}
	switch {
	case math.IsNaN(a) || math.IsNaN(x):
		nan := dual{v: math.NaN()}
		return tails{nan, nan}
	case a <= 0 || math.IsInf(x, 1):
		return tails{certain, impossible}
	case x <= 0 || math.IsInf(a, 1):
		return tails{impossible, certain}
	}
	shape := dual{a, 1, 0}
	if x < a+1 {
		front := dual{a*math.Log(x) - x - lgamma(a+1), math.Log(x) - digamma(a+1), 0}
		term := constant(1)
		total := term
		for n := 1; n < incompleteTerms && term.v > 1e-17*total.v; n++ {
			term = term.scaled(x).over(shape.plus(constant(float64(n))))
			total = total.plus(term)
		}
		return tailsFrom(front.plus(total.log()))
	}
	front := dual{a*math.Log(x) - x - lgamma(a), math.Log(x) - digamma(a), 0}
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

// incompleteBeta is log I(a, b) and the log of its complement, the regularised
// incomplete beta function at logistic(u), with derivatives in a and b. I is 1
// for a <= 0 and 0 for b <= 0.
// Continued fraction: Abramowitz and Stegun 26.5.8, by Lentz's method.
func incompleteBeta(u, a, b float64) tails {
	impossible, certain := dual{v: math.Inf(-1)}, dual{}
	switch {
	case math.IsNaN(u) || math.IsNaN(a) || math.IsNaN(b):
		nan := dual{v: math.NaN()}
		return tails{nan, nan}
	case a <= 0 || math.IsInf(u, 1):
		return tails{certain, impossible}
	case b <= 0 || math.IsInf(u, -1):
		return tails{impossible, certain}
	}
	x := sigmoid(u)
	if x >= (a+1)/(a+b+2) {
		t := betaFraction(-u, b, a)
		t.above.a, t.above.b = t.above.b, t.above.a
		t.below.a, t.below.b = t.below.b, t.below.a
		return t.swapped()
	}
	return betaFraction(u, a, b)
}

// betaFraction is incompleteBeta where logistic(u) is small.
func betaFraction(u, a, b float64) tails {
	x, one := sigmoid(u), constant(1)
	logX, log1mX := -softplus(-u), -softplus(u)
	p, q := dual{a, 1, 0}, dual{b, 0, 1}
	front := dual{
		a*logX + b*log1mX + lgamma(a+b) - lgamma(a+1) - lgamma(b),
		logX + digamma(a+b) - digamma(a+1), log1mX + digamma(a+b) - digamma(b),
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
type fraction struct{ c, d, value dual }

// begin takes b₀.
func (f *fraction) begin(b dual) {
	f.d = constant(1).over(b)
	f.c, f.value = constant(1e300), f.d
}

// add takes the next two coefficients and says whether the value and its
// derivatives stand: where a coefficient is 0 only the value does.
func (f *fraction) add(a, b dual) bool {
	f.d = constant(1).over(b.plus(a.times(f.d)))
	f.c = b.plus(a.over(f.c))
	step := f.c.times(f.d)
	f.value = f.value.times(step)
	const digits = 4e-16
	still := func(change, total float64) bool { return math.Abs(change) <= digits*(1+math.Abs(total/f.value.v)) }
	return math.IsNaN(step.v) ||
		math.Abs(step.v-1) <= digits && still(step.a, f.value.a) && still(step.b, f.value.b)
}
