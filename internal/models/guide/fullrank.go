package guide

import "math"

// FullRank is q(θ) = N(m, LLᵀ) with θ = m + Lη, L lower triangular and
// λ = [m (P), L row by row: L₁₀, ..., with log Lᵢᵢ on the diagonal (P(P+1)/2)].
// Kucukelbir et al. 2017, arXiv:1603.00788, section 2.4, with a log diagonal so
// that L stays invertible.
type FullRank struct {
	p       int
	inverse []float64 // P×P row-major scratch for L⁻¹
}

// NewFullRank returns the full-rank normal family over p scalars.
func NewFullRank(p int) *FullRank {
	return &FullRank{p: p, inverse: make([]float64, p*p)}
}

// Name implements Guide.
func (*FullRank) Name() string { return "full-rank" }

// Latent implements Guide.
func (g *FullRank) Latent() int { return g.p }

// Size implements Guide: P + P(P+1)/2.
func (g *FullRank) Size() int { return g.p + g.p*(g.p+1)/2 }

// Noise implements Guide: P.
func (g *FullRank) Noise() int { return g.p }

// row returns the stored row i of L: i strictly lower entries, then log Lᵢᵢ.
func (g *FullRank) row(lambda []float64, i int) []float64 {
	start := g.p + i*(i+1)/2
	return lambda[start : start+i+1]
}

// Init implements Guide.
func (g *FullRank) Init(lambda, mean []float64, scale float64) {
	copy(lambda[:g.p], mean)
	for i := range g.p {
		r := g.row(lambda, i)
		clear(r)
		r[i] = math.Log(scale)
	}
}

// Draw implements Guide.
func (g *FullRank) Draw(theta, lambda, eta []float64) {
	for i := range g.p {
		r := g.row(lambda, i)
		x := lambda[i] + math.Exp(r[i])*eta[i]
		for j, l := range r[:i] {
			x += l * eta[j]
		}
		theta[i] = x
	}
}

// Pullback implements Guide: ∂m = grad, ∂L = tril(grad ηᵀ) + diag(1/Lᵢᵢ), the
// second term from the entropy Σ log Lᵢᵢ; by the chain rule the stored
// diagonal has ∂log Lᵢᵢ = Lᵢᵢ gradᵢ ηᵢ + 1.
func (g *FullRank) Pullback(dst, grad, lambda, eta []float64) {
	copy(dst[:g.p], grad)
	for i := range g.p {
		d := g.row(dst, i)
		for j := range d[:i] {
			d[j] = grad[i] * eta[j]
		}
		d[i] = math.Exp(g.row(lambda, i)[i])*grad[i]*eta[i] + 1
	}
}

// SD implements Guide: square roots of the row sums of squares of L.
func (g *FullRank) SD(dst, lambda []float64) {
	for i := range g.p {
		r := g.row(lambda, i)
		v := math.Exp(2 * r[i])
		for _, l := range r[:i] {
			v += l * l
		}
		dst[i] = math.Sqrt(v)
	}
}

// Precision implements Guide: (LLᵀ)⁻¹ⱼⱼ = Σᵢ (L⁻¹)ᵢⱼ², by forward substitution
// in O(P³).
func (g *FullRank) Precision(dst, lambda []float64) {
	clear(dst[:g.p])
	for i := range g.p {
		r := g.row(lambda, i)
		inv := math.Exp(-r[i])
		for j := range i + 1 {
			x := 0.0
			if i == j {
				x = 1
			}
			for k := j; k < i; k++ {
				x -= r[k] * g.inverse[k*g.p+j]
			}
			x *= inv
			g.inverse[i*g.p+j] = x
			dst[j] += x * x
		}
	}
}
