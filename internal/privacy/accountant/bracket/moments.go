package bracket

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
)

// Nodes is a quadrature of one pair: Σ mass f(loss) is E[f(L)], up to the
// P-mass that was cut off on the right.
type Nodes struct {
	Loss, Mass []float64
	cut        float64 // P-mass beyond the largest loss
	Count      float64 // T
	Step       float64 // largest increase of the loss over one panel
	Smooth     bool
	Apart      float64 // of the pair
	Partial    bool    // the masses are not near 1 in sum
	upperOnly  bool    // the pair has another one that bounds from below
}

// Quadrature evaluates the pair on 16-point Gauss panels, fine times narrower
// than its natural width, cutting P-mass tail on the right.
func Quadrature(p *pairs.Pair, count int64, tail float64, fine int) Nodes {
	n := Nodes{Count: float64(count), Smooth: p.Smooth, Apart: p.Apart, upperOnly: p.Lower != nil, cut: p.Infinity + p.Missing}
	for _, piece := range p.Pieces {
		piece, cut := piece.Cut(tail)
		n.cut += cut
		left := piece.Loss(piece.Lo)
		for _, panel := range piece.Panels(fine, p.Smooth) {
			a, width := panel.From, panel.Width
			for j, u := range numeric.Gauss16.X {
				x := a + u*width
				l := piece.Loss(x)
				m := numeric.Gauss16.W[j] * width * math.Exp(piece.LogDensity(x, l))
				if m > 0 {
					n.Loss, n.Mass = append(n.Loss, l), append(n.Mass, m)
				}
			}
			right := piece.Loss(a + width)
			n.Step, left = math.Max(n.Step, right-left), right
		}
	}
	for _, a := range p.Atoms {
		n.Loss, n.Mass = append(n.Loss, a.Loss), append(n.Mass, a.Mass)
	}
	return n
}

// LogMoment is T log E[e^{θL}; not cut].
func (n *Nodes) LogMoment(theta float64) float64 {
	top := n.largest(theta)
	sum := 0.0
	if top <= numeric.SafeExponent && !n.Partial {
		for i, l := range n.Loss {
			sum += n.Mass[i] * numeric.Expm1(theta*l)
		}
		return n.Count * math.Log1p(sum-n.cut)
	}
	for i, l := range n.Loss {
		sum += n.Mass[i] * math.Exp(theta*l-top)
	}
	return n.Count * (top + math.Log(sum))
}

// largest is the largest θL.
func (n *Nodes) largest(theta float64) float64 {
	top := math.Inf(-1)
	for _, l := range n.Loss {
		if x := theta * l; x > top { // faster than max, which waits for the step before
			top = x
		}
	}
	return top
}

// Tilted returns the weights e^{θL} mass, normalised, with their mean and variance.
func (n *Nodes) Tilted(theta float64) (weights []float64, mean, variance float64) {
	top := n.largest(theta)
	weights = make([]float64, len(n.Loss))
	sum := 0.0
	for i, l := range n.Loss {
		weights[i] = n.Mass[i] * math.Exp(theta*l-top)
		sum += weights[i]
		mean += weights[i] * l
	}
	mean /= sum
	for i, l := range n.Loss {
		weights[i] /= sum
		variance += weights[i] * (l - mean) * (l - mean)
	}
	return weights, mean, variance
}

// LogModulus is T log|E[e^{itL}]| of nodes with those weights.
func (n *Nodes) LogModulus(weights []float64, t float64) float64 {
	var re, im float64
	for i, w := range weights {
		sn, cs := math.Sincos(t * n.Loss[i])
		re += w * cs
		im += w * sn
	}
	return n.Count * math.Log(math.Min(1, math.Hypot(re, im)))
}

// Composition is a direction made ready for exponential tilting.
type Composition struct {
	Mu2   float64
	Nodes []Nodes
}

// Compose evaluates every part of the direction, cutting P-mass tail from each.
func (d *Losses) Compose(tail float64, fine int) *Composition {
	c := &Composition{Mu2: d.Mu2}
	for _, p := range d.Parts {
		c.Nodes = append(c.Nodes, Quadrature(p.Pair, p.Count, tail, fine))
	}
	return c
}

// LogMoment is K(θ) = log E[e^{θ ΣL}].
func (c *Composition) LogMoment(theta float64) float64 {
	k := 0.5 * c.Mu2 * theta * (1 + theta)
	for i := range c.Nodes {
		k += c.Nodes[i].LogMoment(theta)
	}
	return k
}

// Moments is K'(θ) and K”(θ), the mean and variance of the tilted sum.
func (c *Composition) Moments(theta float64) (mean, variance float64) {
	mean, variance = c.Mu2*(0.5+theta), c.Mu2
	for i := range c.Nodes {
		_, m, v := c.Nodes[i].Tilted(theta)
		mean += c.Nodes[i].Count * m
		variance += c.Nodes[i].Count * v
	}
	return mean, variance
}

// ChernoffEpsilon is the tilt with the smallest Chernoff bound on ε(δ), and
// the bound: ε <= [K(θ) + logHockeyStick(θ) - log δ]/θ. This is the conversion
// of Rényi to approximate differential privacy of Canonne et al. 2020,
// arXiv:2004.00010, at order 1+θ.
func (c *Composition) ChernoffEpsilon(logDelta float64) (theta, bound float64) {
	return c.Scan(func(theta float64) float64 {
		return (c.LogMoment(theta) + numeric.LogHockeyStick(theta) - logDelta) / theta
	})
}

// ChernoffDelta is the tilt with the smallest Chernoff bound on δ(ε), and the
// logarithm of the bound.
func (c *Composition) ChernoffDelta(epsilon float64) (theta, logBound float64) {
	return c.Scan(func(theta float64) float64 {
		return c.LogMoment(theta) + numeric.LogHockeyStick(theta) - theta*epsilon
	})
}

// LeastTilt is theta, or the inverse of the standard deviation of the sum where that is
// larger, but at most 1. Near δ = 1 the tilt of the least Chernoff bound is nearly 0, and
// the hockey stick under it would be as wide as 1/theta.
func (c *Composition) LeastTilt(theta float64) float64 {
	_, variance := c.Moments(theta)
	return math.Max(theta, math.Min(1, 1/math.Sqrt(variance)))
}

// Below is an upper bound on 1 - δ(ε) = E[min(1, e^(ε-L))] <= E[e^(s(ε-L))], the least
// over some s in (0, 1]; ok is false where the quadratures bound δ from above only.
func (c *Composition) Below(epsilon float64) (rest, best float64, ok bool) {
	least := math.Inf(1)
	for s := 1.0; s > 1e-6; s /= 1.5 {
		log := s*epsilon + 0.5*c.Mu2*s*(s-1)
		for i := range c.Nodes {
			n := &c.Nodes[i]
			if n.upperOnly {
				return 0, 0, false
			}
			one := n.LogMoment(-s)
			log += one + n.Count*math.Log1p(n.cut*math.Exp(-one/n.Count)) // the cut losses are above 0
		}
		if log < least {
			least, best = log, s
		}
	}
	return math.Exp(least) * (1 + 1e-6), best, true
}

// Scan minimises f over θ > 0: a walk in factors of two around the scale of
// the loss, robust against the two minima that rare events make, and a golden
// section search to 0.1 %.
func (c *Composition) Scan(f func(theta float64) float64) (theta, value float64) {
	_, variance := c.Moments(0)
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

// Window is the window of the sum, tilted by theta, of this mean and standard deviation, for η =
// exp(logEta).
func (c *Composition) Window(theta, mean, sd, logEta float64) numeric.Window {
	k := c.LogMoment(theta)
	below, lambdaBelow := numeric.LeastWidth(sd, logEta, func(l float64) float64 { return (c.LogMoment(theta-l)-k-logEta)/l + mean })
	above, lambdaAbove := numeric.LeastWidth(sd, logEta, func(l float64) float64 { return (c.LogMoment(theta+l)-k-logEta)/l - mean })
	return numeric.Window{Below: below, Above: above, LambdaBelow: lambdaBelow, LambdaAbove: lambdaAbove}
}

// Losses are independent losses to be added up.
type Losses struct {
	Mu2   float64      // Σ T μ² over the Gaussian steps, which add up to one Gaussian
	Parts []pairs.Part // all other steps, equal ones merged
}

// Steps is the number of losses that are added up, the Gaussians counting as one.
func (d *Losses) Steps() float64 {
	n := 0.0
	if d.Mu2 > 0 {
		n = 1
	}
	for _, p := range d.Parts {
		n += float64(p.Count)
	}
	return n
}
