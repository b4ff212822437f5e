package guide

import "math"

// Custom is the guide of a model file's own law. θⱼ is the quantile of its law
// at Φ(ηⱼ), so that it moves smoothly with λ:
//
//	F(θ; λ) = Φ(η),  ∂θ/∂λ = -∂F/∂λ / ∂F/∂θ
//
// the implicit reparameterisation of Figurnov et al. 2018, arXiv:1805.08498.
type Custom struct {
	law   *tapeLaw
	start []float64 // V
	// located[j] is the place in λ of the location of θⱼ; -1 for none.
	located []int

	upper, target, tails      []float64 // P
	low, high, middle, weight []float64 // P
	dTheta, dLambda           []float64 // P, V
}

// Guide is a new guide with that law.
func (t *Tapes) Guide() *Custom {
	p := len(t.Located)
	g := &Custom{law: newTapeLaw(t), start: t.Start, located: t.Located, dLambda: make([]float64, len(t.Start))}
	for _, buffer := range []*[]float64{&g.upper, &g.target, &g.tails, &g.low, &g.high, &g.middle, &g.weight, &g.dTheta} {
		*buffer = make([]float64, p)
	}
	return g
}

// Name implements Guide.
func (*Custom) Name() string { return CustomName }

// Latent implements Guide.
func (g *Custom) Latent() int { return len(g.located) }

// Size implements Guide.
func (g *Custom) Size() int { return len(g.start) }

// Noise implements Guide: P.
func (g *Custom) Noise() int { return len(g.located) }

// Init implements Guide. The scale is the law's own.
func (g *Custom) Init(lambda, mean []float64, _ float64) {
	copy(lambda, g.start)
	for j, at := range g.located {
		if at >= 0 {
			lambda[at] = g.start[at] + mean[j]
		}
	}
}

// median is the median of every coordinate.
func (g *Custom) median(lambda []float64) []float64 {
	clear(g.weight)
	theta := make([]float64, len(g.weight))
	g.Draw(theta, lambda, g.weight)
	return theta
}

// Draw implements Guide, by bisection of all coordinates at once. It computes a tail from
// the side on which it is small, so that it keeps its digits.
func (g *Custom) Draw(theta, lambda, eta []float64) {
	for j, e := range eta {
		g.upper[j] = 0
		if e > 0 {
			g.upper[j] = 1
		}
		g.target[j] = logNormalTail(math.Abs(e))
		g.low[j], g.high[j] = -1, 1
	}
	for range 60 { // until both ends enclose every quantile
		if !g.widen(lambda) {
			break
		}
	}
	for range 64 {
		for j := range g.middle {
			g.middle[j] = g.low[j] + (g.high[j]-g.low[j])/2
		}
		g.law.logTails(g.tails, g.middle, lambda, g.upper)
		for j := range g.middle {
			if g.isBelow(j) {
				g.low[j] = g.middle[j]
			} else {
				g.high[j] = g.middle[j]
			}
		}
	}
	copy(theta, g.middle)
}

// isBelow reports whether the point of the given tail is below the quantile.
func (g *Custom) isBelow(j int) bool {
	if g.upper[j] == 1 {
		return g.tails[j] > g.target[j]
	}
	return g.tails[j] < g.target[j]
}

// widen doubles the intervals that do not enclose their quantile yet, and
// reports whether there were any.
func (g *Custom) widen(lambda []float64) bool {
	moved := false
	g.law.logTails(g.tails, g.low, lambda, g.upper)
	for j := range g.low {
		if !g.isBelow(j) {
			width := g.high[j] - g.low[j]
			g.low[j], g.high[j], moved = g.low[j]-2*width, g.low[j], true
		}
	}
	g.law.logTails(g.tails, g.high, lambda, g.upper)
	for j := range g.high {
		if g.isBelow(j) {
			width := g.high[j] - g.low[j]
			g.low[j], g.high[j], moved = g.high[j], g.high[j]+2*width, true
		}
	}
	return moved
}

// Pullback implements Guide: the gradient with respect to λ of
// grad·θ(λ) - log q(θ(λ); λ) at fixed η, whose mean over η is that of the ELBO.
func (g *Custom) Pullback(dst, grad, lambda, eta []float64) {
	g.Draw(g.middle, lambda, eta)
	g.law.densityGradient(g.dTheta, dst, g.middle, lambda)
	for j, v := range grad {
		g.target[j] = v - g.dTheta[j] // the factor of ∂θⱼ/∂λ
		g.weight[j] = 1
	}
	g.law.tailsGradient(g.dTheta, g.dLambda, g.middle, lambda, g.upper, g.weight)
	for j, slope := range g.dTheta {
		g.weight[j] = -g.target[j] / slope
	}
	g.law.tailsGradient(g.dTheta, g.dLambda, g.middle, lambda, g.upper, g.weight)
	for i := range dst {
		dst[i] = g.dLambda[i] - dst[i]
	}
}

// SD implements Guide: half the distance of the quantiles at Φ(-1) and Φ(1),
// which is the standard deviation of a normal.
func (g *Custom) SD(dst, lambda []float64) {
	for _, sign := range []float64{-1, 1} {
		for j := range g.weight {
			g.weight[j] = sign
		}
		g.Draw(g.dTheta, lambda, g.weight)
		for j, q := range g.dTheta {
			if sign < 0 {
				dst[j] = q
			} else {
				dst[j] = (q - dst[j]) / 2
			}
		}
	}
}

// Precision implements Guide: 1/SD².
func (g *Custom) Precision(dst, lambda []float64) {
	g.SD(dst, lambda)
	for j, sd := range dst {
		dst[j] = 1 / (sd * sd)
	}
}

// logNormalTail is log(1-Φ(x)) for x >= 0, which the η of a stream, below 40,
// never take out of range.
func logNormalTail(x float64) float64 { return math.Log(math.Erfc(x/math.Sqrt2) / 2) }
