package guide

import (
	"math"

	"d3p/internal/simd"
)

// LowRank is q(θ) = N(m, D(I + FFᵀ)D) with D = diag(s) and F (P×R), drawn as
// θ = m + s·(η₁ + Fη₂); λ = [m (P), log s (P), F row-major (P·R)] and
// η = [η₁ (P), η₂ (R)]. The factors are in units of s, so that an optimizer's
// step in F means the same whatever the units of θ.
// Ong, Nott & Smith 2018, arXiv:1701.03208.
type LowRank struct {
	p, r  int
	chol  []float64 // R×R scratch: Cholesky factor of M = I + FᵀF
	solve []float64 // R scratch
	scale []float64 // P scratch: s, or a power of it
}

// NewLowRank returns the family over p scalars with r factors.
func NewLowRank(p, r int) *LowRank {
	return &LowRank{p: p, r: r, chol: make([]float64, r*r), solve: make([]float64, r), scale: make([]float64, p)}
}

// Name implements Guide.
func (*LowRank) Name() string { return LowRankName }

// Latent implements Guide.
func (g *LowRank) Latent() int { return g.p }

// Size implements Guide: P(2 + R).
func (g *LowRank) Size() int { return g.p * (2 + g.r) }

// Noise implements Guide: P + R.
func (g *LowRank) Noise() int { return g.p + g.r }

// factor returns row i (R) of F.
func (g *LowRank) factor(lambda []float64, i int) []float64 {
	start := 2*g.p + i*g.r
	return lambda[start : start+g.r]
}

// Init implements Guide. F starts at small multiples of a cosine basis, because zero is a
// stationary point of the expected gradient.
func (g *LowRank) Init(lambda, mean []float64, scale float64) {
	copy(lambda[:g.p], mean)
	for i := range g.p {
		lambda[g.p+i] = math.Log(scale)
		for k := range g.r {
			angle := math.Pi * (float64(i) + 0.5) * float64(k+1) / float64(g.p)
			g.factor(lambda, i)[k] = 0.1 * math.Cos(angle)
		}
	}
}

// standardised is (η₁ + Fη₂)ᵢ.
func (g *LowRank) standardised(lambda, eta []float64, i int) float64 {
	x := eta[i]
	for k, f := range g.factor(lambda, i) {
		x += f * eta[g.p+k]
	}
	return x
}

// Draw implements Guide.
func (g *LowRank) Draw(theta, lambda, eta []float64) {
	simd.Exp(g.scale, lambda[g.p:])
	for i, s := range g.scale {
		theta[i] = lambda[i] + s*g.standardised(lambda, eta, i)
	}
}

// Pullback implements Guide. The entropy is Σ log s + ½ log|I + FFᵀ|, so
// ∂log sᵢ = sᵢgradᵢ(η₁ + Fη₂)ᵢ + 1 and ∂F = (s·grad)η₂ᵀ + (I + FFᵀ)⁻¹F, the
// last term being FM⁻¹ with M = I + FᵀF.
func (g *LowRank) Pullback(dst, grad, lambda, eta []float64) {
	g.factorise(lambda)
	simd.Exp(g.scale, lambda[g.p:])
	for i, s := range g.scale {
		push := s * grad[i]
		dst[i] = grad[i]
		dst[g.p+i] = push*g.standardised(lambda, eta, i) + 1
		g.solveM(g.factor(lambda, i))
		out := g.factor(dst, i)
		for k, x := range g.solve {
			out[k] = push*eta[g.p+k] + x
		}
	}
}

// SD implements Guide.
func (g *LowRank) SD(dst, lambda []float64) {
	simd.Exp(g.scale, lambda[g.p:])
	for i, s := range g.scale {
		v := 1.0
		for _, f := range g.factor(lambda, i) {
			v += f * f
		}
		dst[i] = s * math.Sqrt(v)
	}
}

// Precision implements Guide: Woodbury, (Σ⁻¹)ᵢᵢ = sᵢ⁻²(1 − FᵢM⁻¹Fᵢᵀ).
func (g *LowRank) Precision(dst, lambda []float64) {
	g.factorise(lambda)
	simd.MulScalar(g.scale, lambda[g.p:], -2)
	simd.Exp(g.scale, g.scale)
	for i, s := range g.scale {
		row := g.factor(lambda, i)
		g.solveM(row)
		left := 1.0
		for k, x := range g.solve {
			left -= row[k] * x
		}
		dst[i] = s * left
	}
}

// factorise sets chol to the lower Cholesky factor of M = I + FᵀF.
func (g *LowRank) factorise(lambda []float64) {
	r := g.r
	clear(g.chol)
	for k := range r {
		g.chol[k*r+k] = 1
	}
	for i := range g.p {
		row := g.factor(lambda, i)
		for a := range r {
			for b := range a + 1 {
				g.chol[a*r+b] += row[a] * row[b]
			}
		}
	}
	for a := range r {
		for b := range a + 1 {
			x := g.chol[a*r+b]
			for k := range b {
				x -= g.chol[a*r+k] * g.chol[b*r+k]
			}
			if a == b {
				g.chol[a*r+a] = math.Sqrt(x)
			} else {
				g.chol[a*r+b] = x / g.chol[b*r+b]
			}
		}
	}
}

// solveM sets solve (R) to M⁻¹v.
func (g *LowRank) solveM(v []float64) {
	r := g.r
	for a := range r {
		x := v[a]
		for k := range a {
			x -= g.chol[a*r+k] * g.solve[k]
		}
		g.solve[a] = x / g.chol[a*r+a]
	}
	for a := r - 1; a >= 0; a-- {
		x := g.solve[a]
		for k := a + 1; k < r; k++ {
			x -= g.chol[k*r+a] * g.solve[k]
		}
		g.solve[a] = x / g.chol[a*r+a]
	}
}
