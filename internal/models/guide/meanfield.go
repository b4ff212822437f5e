package guide

import "math"

// MeanField is q(θ) = Πⱼ N(mⱼ, sⱼ²) with λ = [m (P), log s (P)] and
// θ = m + s·η. Kucukelbir et al. 2017, arXiv:1603.00788, section 2.4.
type MeanField struct{ p int }

// NewMeanField returns the mean-field normal family over p scalars.
func NewMeanField(p int) MeanField { return MeanField{p} }

// Name implements Guide.
func (MeanField) Name() string { return "mean-field" }

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
func (g MeanField) Draw(theta, lambda, eta []float64) {
	m, ls := lambda[:g.p], lambda[g.p:2*g.p]
	for j := range theta[:g.p] {
		theta[j] = m[j] + math.Exp(ls[j])*eta[j]
	}
}

// Pullback implements Guide: ∂m = grad, ∂log s = s·η·grad + 1. The gradient of
// log s costs no noise of its own ("aligned", Jälkö et al. 2022, DPVIm); the 1
// is the entropy Σ log s.
func (g MeanField) Pullback(dst, grad, lambda, eta []float64) {
	ls := lambda[g.p : 2*g.p]
	gm, gs := dst[:g.p], dst[g.p:2*g.p]
	for j := range gm {
		gm[j] = grad[j]
		gs[j] = math.Exp(ls[j])*eta[j]*grad[j] + 1
	}
}

// SD implements Guide.
func (g MeanField) SD(dst, lambda []float64) {
	for j := range g.p {
		dst[j] = math.Exp(lambda[g.p+j])
	}
}

// Precision implements Guide: 1/s².
func (g MeanField) Precision(dst, lambda []float64) {
	for j := range g.p {
		dst[j] = math.Exp(-2 * lambda[g.p+j])
	}
}
