package guide

// Delta is a point mass at m: λ = m, θ = m, no entropy. Its fit is the maximum
// a posteriori on the unconstrained scale, and it states no uncertainty.
type Delta struct{ p int }

// NewDelta returns the family of points over p scalars.
func NewDelta(p int) Delta { return Delta{p} }

// Name implements Guide.
func (Delta) Name() string { return DeltaName }

// Latent implements Guide.
func (g Delta) Latent() int { return g.p }

// Size implements Guide: P.
func (g Delta) Size() int { return g.p }

// Noise implements Guide: none.
func (Delta) Noise() int { return 0 }

// Init implements Guide; scale has no meaning for a point.
func (g Delta) Init(lambda, mean []float64, _ float64) { copy(lambda[:g.p], mean) }

// Draw implements Guide.
func (g Delta) Draw(theta, lambda, eta []float64) { g.DrawRange(theta, lambda, eta, 0, g.p) }

// DrawRange implements Separable.
func (Delta) DrawRange(theta, lambda, _ []float64, low, high int) {
	copy(theta[low:high], lambda[low:high])
}

// Pullback implements Guide.
func (g Delta) Pullback(dst, grad, lambda, eta []float64) {
	g.PullbackRange(dst, grad, lambda, eta, 0, g.p)
}

// PullbackRange implements Separable.
func (Delta) PullbackRange(dst, grad, _, _ []float64, low, high int) {
	copy(dst[low:high], grad[low:high])
}

// SD implements Guide: zero.
func (g Delta) SD(dst, _ []float64) { clear(dst[:g.p]) }

// Precision implements Guide: zero, because a point states no curvature.
func (g Delta) Precision(dst, lambda []float64) { g.PrecisionRange(dst, lambda, 0, g.p) }

// PrecisionRange implements Separable.
func (Delta) PrecisionRange(dst, _ []float64, low, high int) { clear(dst[low:high]) }
