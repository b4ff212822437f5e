package accountant

import "math"

// nodes is a quadrature of one pair: Σ mass f(loss) is E[f(L)], up to the
// P-mass that was cut off on the right.
type nodes struct {
	loss, mass []float64
	cut        float64 // P-mass beyond the largest loss
	count      float64 // T
	step       float64 // largest increase of the loss over one panel
	smooth     bool
	apart      float64 // of the pair
	partial    bool    // the masses are not near 1 in sum
	upperOnly  bool    // the pair has another one that bounds from below
}

// gaussPanel is a stretch of outcomes under one Gauss rule.
type gaussPanel struct{ from, width float64 }

// panels divides the piece. A density that ends abruptly has, under a large tilt, its mass
// at the upper end alone: there the panels become narrower and narrower.
func (p *piece) panels(fine int, smooth bool) (all []gaussPanel) {
	n := int(math.Ceil((p.hi - p.lo) / p.width * float64(fine)))
	width := (p.hi - p.lo) / float64(n)
	for i := range n {
		all = append(all, gaussPanel{p.lo + float64(i)*width, width})
	}
	if smooth {
		return all
	}
	const halvings = 30
	last := &all[n-1]
	for range halvings {
		last.width /= 2
		all = append(all, gaussPanel{last.from + last.width, last.width})
		last = &all[len(all)-1]
	}
	return all
}

// quadrature evaluates the pair on 16-point Gauss panels, fine times narrower
// than its natural width, cutting P-mass tail on the right.
func quadrature(p *pair, count int64, tail float64, fine int) nodes {
	n := nodes{count: float64(count), smooth: p.smooth, apart: p.apart, upperOnly: p.lower != nil, cut: p.infinity + p.missing}
	for _, piece := range p.pieces {
		piece, cut := piece.cut(tail)
		n.cut += cut
		left := piece.loss(piece.lo)
		for _, panel := range piece.panels(fine, p.smooth) {
			a, width := panel.from, panel.width
			for j, u := range gauss16.x {
				x := a + u*width
				l := piece.loss(x)
				m := gauss16.w[j] * width * math.Exp(piece.logDensity(x, l))
				if m > 0 {
					n.loss, n.mass = append(n.loss, l), append(n.mass, m)
				}
			}
			right := piece.loss(a + width)
			n.step, left = math.Max(n.step, right-left), right
		}
	}
	for _, a := range p.atoms {
		n.loss, n.mass = append(n.loss, a.loss), append(n.mass, a.mass)
	}
	return n
}

// safeExponent is the largest exponent for which the form with expm1 is used;
// beyond it the tail dominates and a shifted sum of exponentials is as precise.
const safeExponent = 30

// logMoment is T log E[e^{θL}; not cut].
func (n *nodes) logMoment(theta float64) float64 {
	top := math.Inf(-1)
	for _, l := range n.loss {
		top = math.Max(top, theta*l)
	}
	sum := 0.0
	if top <= safeExponent && !n.partial {
		for i, l := range n.loss {
			sum += n.mass[i] * math.Expm1(theta*l)
		}
		return n.count * math.Log1p(sum-n.cut)
	}
	for i, l := range n.loss {
		sum += n.mass[i] * math.Exp(theta*l-top)
	}
	return n.count * (top + math.Log(sum))
}

// tilted returns the weights e^{θL} mass, normalised, with their mean and variance.
func (n *nodes) tilted(theta float64) (weights []float64, mean, variance float64) {
	top := math.Inf(-1)
	for _, l := range n.loss {
		top = math.Max(top, theta*l)
	}
	weights = make([]float64, len(n.loss))
	sum := 0.0
	for i, l := range n.loss {
		weights[i] = n.mass[i] * math.Exp(theta*l-top)
		sum += weights[i]
		mean += weights[i] * l
	}
	mean /= sum
	for i, l := range n.loss {
		weights[i] /= sum
		variance += weights[i] * (l - mean) * (l - mean)
	}
	return weights, mean, variance
}

// composition is a direction made ready for exponential tilting.
type composition struct {
	mu2   float64
	nodes []nodes
}

// compose evaluates every part of the direction, cutting P-mass tail from each.
func (d *direction) compose(tail float64, fine int) *composition {
	c := &composition{mu2: d.mu2}
	for _, p := range d.parts {
		c.nodes = append(c.nodes, quadrature(p.pair, p.count, tail, fine))
	}
	return c
}

// logMoment is K(θ) = log E[e^{θ ΣL}].
func (c *composition) logMoment(theta float64) float64 {
	k := 0.5 * c.mu2 * theta * (1 + theta)
	for i := range c.nodes {
		k += c.nodes[i].logMoment(theta)
	}
	return k
}

// moments is K'(θ) and K”(θ), the mean and variance of the tilted sum.
func (c *composition) moments(theta float64) (mean, variance float64) {
	mean, variance = c.mu2*(0.5+theta), c.mu2
	for i := range c.nodes {
		_, m, v := c.nodes[i].tilted(theta)
		mean += c.nodes[i].count * m
		variance += c.nodes[i].count * v
	}
	return mean, variance
}

// logHockeyStick is log max_u e^{-θu}(1-e^{-u}) = θ log θ - (1+θ) log(1+θ).
func logHockeyStick(theta float64) float64 {
	return -math.Log1p(theta) - theta*math.Log1p(1/theta)
}

// chernoffEpsilon is the tilt with the smallest Chernoff bound on ε(δ), and
// the bound: ε <= [K(θ) + logHockeyStick(θ) - log δ]/θ. This is the conversion
// of Rényi to approximate differential privacy of Canonne et al. 2020,
// arXiv:2004.00010, at order 1+θ.
func (c *composition) chernoffEpsilon(logDelta float64) (theta, bound float64) {
	return c.scan(func(theta float64) float64 {
		return (c.logMoment(theta) + logHockeyStick(theta) - logDelta) / theta
	})
}

// chernoffDelta is the tilt with the smallest Chernoff bound on δ(ε), and the
// logarithm of the bound.
func (c *composition) chernoffDelta(epsilon float64) (theta, logBound float64) {
	return c.scan(func(theta float64) float64 {
		return c.logMoment(theta) + logHockeyStick(theta) - theta*epsilon
	})
}

// leastTilt is theta, or the inverse of the standard deviation of the sum where that is
// larger, but at most 1. Near δ = 1 the tilt of the least Chernoff bound is nearly 0, and
// the hockey stick under it would be as wide as 1/theta.
func (c *composition) leastTilt(theta float64) float64 {
	_, variance := c.moments(theta)
	return math.Max(theta, math.Min(1, 1/math.Sqrt(variance)))
}

// below is an upper bound on 1 - δ(ε) = E[min(1, e^(ε-L))] <= E[e^(s(ε-L))], the least
// over some s in (0, 1]; ok is false where the quadratures bound δ from above only.
func (c *composition) below(epsilon float64) (rest float64, ok bool) {
	least := math.Inf(1)
	for s := 1.0; s > 1e-6; s /= 1.5 {
		log := s*epsilon + 0.5*c.mu2*s*(s-1)
		for i := range c.nodes {
			n := &c.nodes[i]
			if n.upperOnly {
				return 0, false
			}
			one := n.logMoment(-s)
			log += one + n.count*math.Log1p(n.cut*math.Exp(-one/n.count)) // what was cut is above 0
		}
		least = math.Min(least, log)
	}
	return math.Exp(least) * (1 + 1e-6), true
}

// scan minimises f over θ > 0: a walk in factors of two around the scale of
// the loss, robust against the two minima that rare events make, and a golden
// section search to 0.1 %.
func (c *composition) scan(f func(theta float64) float64) (theta, value float64) {
	_, variance := c.moments(0)
	center := 4 / math.Sqrt(math.Max(variance, 1e-60))
	best, value := center, math.Inf(1)
	try := func(t float64) {
		if v := f(t); v < value {
			best, value = t, v
		}
	}
	lo, hi := -12, 12
	for k := lo; k <= hi; k++ {
		try(math.Ldexp(center, k))
	}
	for best == math.Ldexp(center, hi) && hi < 60 {
		hi++
		try(math.Ldexp(center, hi))
	}
	for (best == math.Ldexp(center, lo) || math.IsInf(value, 1)) && lo > -60 { // or f overflows that far out
		lo--
		try(math.Ldexp(center, lo))
	}
	const golden = 0.6180339887498949
	a, b := math.Log(best/2), math.Log(best*2)
	x1, x2 := b-golden*(b-a), a+golden*(b-a)
	f1, f2 := f(math.Exp(x1)), f(math.Exp(x2))
	for b-a > 1e-3 {
		if f1 < f2 {
			b, x2, f2 = x2, x1, f1
			x1 = b - golden*(b-a)
			f1 = f(math.Exp(x1))
		} else {
			a, x1, f1 = x1, x2, f2
			x2 = a + golden*(b-a)
			f2 = f(math.Exp(x2))
		}
	}
	if f1 < value {
		best, value = math.Exp(x1), f1
	}
	if f2 < value {
		best, value = math.Exp(x2), f2
	}
	return best, value
}

// window is how far below and above its mean the tilted sum has all but eta of
// its mass, by Chernoff's bound, and the tilts λ that prove it.
type window struct{ below, above, lambdaBelow, lambdaAbove float64 }

// The range of λ that is tried, in units of 1/sd. Where a few rare losses make
// the window, it is far below 1.
const (
	leastLambda   = 1e-6
	largestLambda = 110
)

func (c *composition) window(theta, mean, sd, logEta float64) window {
	k := c.logMoment(theta)
	below, lambdaBelow := leastWidth(sd, logEta, func(l float64) float64 { return (c.logMoment(theta-l)-k-logEta)/l + mean })
	above, lambdaAbove := leastWidth(sd, logEta, func(l float64) float64 { return (c.logMoment(theta+l)-k-logEta)/l - mean })
	return window{below, above, lambdaBelow, lambdaAbove}
}

// leastWidth walks to the λ in units of 1/sd at which the width is least, from
// the one that is best for a normal distribution.
func leastWidth(sd, logEta float64, width func(lambda float64) float64) (least, lambda float64) {
	const step = 1.45
	start := math.Sqrt(-2*logEta) / sd
	least, lambda = width(start), start
	if math.IsNaN(least) {
		least = math.Inf(1)
	}
	for _, factor := range []float64{1 / step, step} {
		for l := start * factor; l > leastLambda/sd && l < largestLambda/sd; l *= factor {
			w := width(l)
			if !(w < least) && !math.IsInf(least, 1) {
				break
			}
			if w < least {
				least, lambda = w, l
			}
		}
	}
	return least, lambda
}
