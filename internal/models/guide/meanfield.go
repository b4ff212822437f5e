package guide

import (
	"math"

	"d3p/internal/simd"
)

// MeanField is q(θ) = Πⱼ N(mⱼ, sⱼ²) with λ = [m (P), log s (P)] and
// θ = m + s·η. Kucukelbir et al. 2017, arXiv:1603.00788, section 2.4.
type MeanField struct{ p int }

// block is the number of coordinates that several loops process at a time, so that
// intermediate results stay in the first-level cache.
const block = 512

// NewMeanField returns the mean-field normal family over p scalars.
func NewMeanField(p int) MeanField { return MeanField{p} }

// Name implements Guide.
func (MeanField) Name() string { return MeanFieldName }

// Latent implements Guide.
func (g MeanField) Latent() int { return g.p }

// Size implements Guide: 2P.
func (g MeanField) Size() int { return 2 * g.p }

// Noise implements Guide: P.
func (g MeanField) Noise() int { return g.p }

// Init implements Guide.
func (g MeanField) Init(lambda, mean []float64, scale float64) {
	copy(lambda[:g.p], mean)
	logScale := math.Log(scale)
	for j := range g.p {
		lambda[g.p+j] = logScale
	}
}

// Draw implements Guide.
func (g MeanField) Draw(theta, lambda, eta []float64) { g.DrawRange(theta, lambda, eta, 0, g.p) }

// DrawRange implements Separable.
func (g MeanField) DrawRange(theta, lambda, eta []float64, low, high int) {
	for lo := low; lo < high; lo += block {
		hi := min(lo+block, high)
		t := theta[lo:hi]
		simd.Exp(t, lambda[g.p+lo:])
		simd.Mul(t, t, eta[lo:hi])
		simd.Add(t, t, lambda[lo:hi])
	}
}

// Pullback implements Guide: ∂m = grad, ∂log s = s·η·grad + 1. The gradient of log s adds
// no noise ("aligned", Jälkö et al. 2022, DPVIm); the 1 comes from the entropy Σ log s.
func (g MeanField) Pullback(dst, grad, lambda, eta []float64) {
	g.PullbackRange(dst, grad, lambda, eta, 0, g.p)
}

// PullbackRange implements Separable.
func (g MeanField) PullbackRange(dst, grad, lambda, eta []float64, low, high int) {
	copy(dst[low:high], grad[low:high])
	for lo := low; lo < high; lo += block {
		hi := min(lo+block, high)
		gs := dst[g.p+lo : g.p+hi]
		simd.Exp(gs, lambda[g.p+lo:])
		simd.Mul(gs, gs, eta[lo:hi])
		simd.Mul(gs, gs, grad[lo:hi])
		simd.AddScalar(gs, gs, 1)
	}
}

// SD implements Guide.
func (g MeanField) SD(dst, lambda []float64) { simd.Exp(dst[:g.p], lambda[g.p:]) }

// Precision implements Guide: 1/s².
func (g MeanField) Precision(dst, lambda []float64) { g.PrecisionRange(dst, lambda, 0, g.p) }

// PrecisionRange implements Separable.
func (g MeanField) PrecisionRange(dst, lambda []float64, low, high int) {
	dst = dst[low:high]
	simd.MulScalar(dst, lambda[g.p+low:], -2)
	simd.Exp(dst, dst)
}

// Score implements Scorer: -η/s.
func (g MeanField) Score(dst, lambda, eta []float64) {
	for j := range g.p {
		dst[j] = -eta[j] * math.Exp(-lambda[g.p+j])
	}
}
