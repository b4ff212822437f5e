package guide

import "math"

// FullRank is q(θ) = N(m, LLᵀ) with θ = m + Lη and L = diag(s)·A, A lower
// triangular with ones on its diagonal; λ = [m (P), row by row Aᵢ₀, ..., log sᵢ
// (P(P+1)/2)]. Any Cholesky factor is such a product. Written so, a step of an
// optimizer in A means the same whatever the units of θ, and L stays invertible.
// Kucukelbir et al. 2017, arXiv:1603.00788, section 2.4.
type FullRank struct {
	p       int
	inverse []float64 // P×P row-major scratch for A⁻¹
}

// NewFullRank returns the full-rank normal family over p scalars.
func NewFullRank(p int) *FullRank {
	return &FullRank{p: p, inverse: make([]float64, p*p)}
}

// Name implements Guide.
func (*FullRank) Name() string { return FullRankName }

// Latent implements Guide.
func (g *FullRank) Latent() int { return g.p }

// Size implements Guide: P + P(P+1)/2.
func (g *FullRank) Size() int { return g.p + g.p*(g.p+1)/2 }

// Noise implements Guide: P.
func (g *FullRank) Noise() int { return g.p }

// row returns row i: Aᵢ₀, ..., Aᵢ,ᵢ₋₁, then log sᵢ.
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

// Set sets lambda to location mean (P) and the lower triangular factor L, row by
// row, P(P+1)/2 numbers with a positive diagonal.
func (g *FullRank) Set(lambda, mean, factor []float64) {
	copy(lambda[:g.p], mean)
	copy(lambda[g.p:], factor)
	for i := range g.p {
		r := g.row(lambda, i)
		for j := range r[:i] {
			r[j] /= r[i]
		}
		r[i] = math.Log(r[i])
	}
}

// Factor sets dst, P(P+1)/2 numbers, to the factor L of lambda, row by row.
func (g *FullRank) Factor(dst, lambda []float64) {
	copy(dst, lambda[g.p:])
	for i := range g.p {
		r := dst[i*(i+1)/2:][:i+1]
		r[i] = math.Exp(r[i])
		for j := range r[:i] {
			r[j] *= r[i]
		}
	}
}

// Draw implements Guide.
func (g *FullRank) Draw(theta, lambda, eta []float64) {
	for i := range g.p {
		r := g.row(lambda, i)
		theta[i] = lambda[i] + math.Exp(r[i])*standardised(r, eta)
	}
}

// standardised is (Aη)ᵢ for the stored row r of i.
func standardised(r, eta []float64) float64 {
	i := len(r) - 1
	x := eta[i]
	for j, a := range r[:i] {
		x += a * eta[j]
	}
	return x
}

// Pullback implements Guide: ∂m = grad, ∂L = tril(grad ηᵀ) + diag(1/Lᵢᵢ), the
// second term from the entropy Σ log Lᵢᵢ = Σ log sᵢ; by the chain rule
// ∂Aᵢⱼ = sᵢ gradᵢ ηⱼ and ∂log sᵢ = sᵢ gradᵢ (Aη)ᵢ + 1.
func (g *FullRank) Pullback(dst, grad, lambda, eta []float64) {
	copy(dst[:g.p], grad)
	for i := range g.p {
		r, d := g.row(lambda, i), g.row(dst, i)
		push := math.Exp(r[i]) * grad[i]
		for j := range d[:i] {
			d[j] = push * eta[j]
		}
		d[i] = push*standardised(r, eta) + 1
	}
}

// SD implements Guide: sᵢ times the norm of row i of A.
func (g *FullRank) SD(dst, lambda []float64) {
	for i := range g.p {
		r := g.row(lambda, i)
		v := 1.0
		for _, a := range r[:i] {
			v += a * a
		}
		dst[i] = math.Exp(r[i]) * math.Sqrt(v)
	}
}

// Precision implements Guide: (LLᵀ)⁻¹ⱼⱼ = Σᵢ (L⁻¹)ᵢⱼ² with L⁻¹ = A⁻¹diag(1/s),
// by forward substitution in O(P³).
func (g *FullRank) Precision(dst, lambda []float64) {
	clear(dst[:g.p])
	for i := range g.p {
		r := g.row(lambda, i)
		for j := range i + 1 {
			x := 0.0
			if i == j {
				x = 1
			}
			for k := j; k < i; k++ {
				x -= r[k] * g.inverse[k*g.p+j]
			}
			g.inverse[i*g.p+j] = x
			dst[j] += x * x
		}
	}
	for j := range g.p {
		dst[j] *= math.Exp(-2 * g.row(lambda, j)[j])
	}
}

// Score implements Scorer: -L⁻ᵀη = -diag(1/s)A⁻ᵀη, by back substitution.
func (g *FullRank) Score(dst, lambda, eta []float64) {
	copy(dst, eta[:g.p])
	for i := g.p - 1; i >= 0; i-- {
		r := g.row(lambda, i)
		for j, a := range r[:i] {
			dst[j] -= a * dst[i]
		}
		dst[i] *= -math.Exp(-r[i])
	}
}
