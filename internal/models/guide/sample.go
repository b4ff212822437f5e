package guide

import (
	"math"

	"d3p/internal/models/special"
)

// SampleName is the name of the family Sample.
const SampleName = "sample"

// Sample is the empirical distribution of S draws: λ is their mean (P), then the
// draws (S×P, row-major). A sampler makes it; it cannot be fitted. A draw from it
// is one of the S, each with equal probability: the one at place ⌊Φ(η)S⌋.
type Sample struct{ p, s, chains int }

// NewSample returns the family of s draws of p scalars, the same number from each
// of some chains, chain after chain.
func NewSample(p, s, chains int) Sample { return Sample{p, s, chains} }

// Chains is the number of chains that the draws come from.
func (g Sample) Chains() int { return g.chains }

// Lambda is the variational parameters of draws (S×P).
func (g Sample) Lambda(draws []float64) []float64 {
	lambda := make([]float64, g.p, g.Size())
	for i, x := range draws {
		lambda[i%g.p] += x / float64(g.s)
	}
	return append(lambda, draws...)
}

// At sets theta (P) to the i-th draw.
func (g Sample) At(theta, lambda []float64, i int) { copy(theta[:g.p], lambda[(i+1)*g.p:]) }

// Draws is S.
func (g Sample) Draws() int { return g.s }

// Name implements Guide.
func (Sample) Name() string { return SampleName }

// Latent implements Guide.
func (g Sample) Latent() int { return g.p }

// Size implements Guide: (S+1)P.
func (g Sample) Size() int { return (g.s + 1) * g.p }

// Noise implements Guide: one normal chooses the draw.
func (Sample) Noise() int { return 1 }

// Init implements Guide; it panics.
func (Sample) Init(_, _ []float64, _ float64) { panic("guide: a sample cannot be fitted") }

// Pullback implements Guide; it panics.
func (Sample) Pullback(_, _, _, _ []float64) { panic("guide: a sample cannot be fitted") }

// Draw implements Guide.
func (g Sample) Draw(theta, lambda, eta []float64) {
	u := special.NormalCDF(eta[0])
	g.At(theta, lambda, min(int(u*float64(g.s)), g.s-1))
}

// SD implements Guide.
func (g Sample) SD(dst, lambda []float64) {
	clear(dst[:g.p])
	for i, x := range lambda[g.p:] {
		d := x - lambda[i%g.p]
		dst[i%g.p] += d * d / float64(max(1, g.s-1))
	}
	for j, v := range dst[:g.p] {
		dst[j] = math.Sqrt(v)
	}
}

// Precision implements Guide: 1/variance, which is the diagonal of the inverse
// covariance only where coordinates are independent.
func (g Sample) Precision(dst, lambda []float64) {
	g.SD(dst, lambda)
	for j, sd := range dst[:g.p] {
		dst[j] = 1 / (sd * sd)
	}
}
