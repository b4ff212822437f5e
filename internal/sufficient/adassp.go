package sufficient

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// ridgeFails is ρ, the probability that the noise of S exceeds the bound from which the
// ridge follows.
const ridgeFails = 0.05

// leastVariance is the least residual variance of AdaSSP, in the unit of the response.
const leastVariance = 1e-4

// AdaSSP is the point estimate by adaptive sufficient statistics perturbation (Wang 2018,
// arXiv:1803.02596, algorithm 2), from the moments alone:
//
//	γ = (S + λI)⁻¹ Σxy,  λ = max(0, B − λ₀),  λ₀ = max(0, λ_min(S) − B)
//
// B = τ√(P log(2P²/ρ)) bounds the noise of S, λ₀ the least eigenvalue of Σxxᵀ from below. Wang
// buys that eigenvalue by a third release; here it follows from S. Where S + λI has eigenvalues
// below B, λ is larger: it would be no design. variance is that of y − xγ.
func (m *Moments) AdaSSP() (gamma []float64, variance float64) {
	p := m.P
	noise := m.Noise * math.Sqrt(float64(p)*math.Log(2*float64(p*p)/ridgeFails))
	design := m.Design()
	var e mat.EigenSym
	if !e.Factorize(design, true) {
		panic("sufficient: no eigenvalues of finite moments")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	values := e.Values(nil)
	least := values[0]
	ridge := max(0, noise-max(0, least-noise), noise-least)
	with, solved := mat.NewVecDense(p, nil), mat.NewVecDense(p, nil)
	for j := range p {
		with.SetVec(j, m.At(j, p))
	}
	for j, value := range values {
		solved.AddScaledVec(solved, mat.Dot(v.ColView(j), with)/(value+ridge), v.ColView(j))
	}
	square := m.At(p, p) - 2*mat.Dot(solved, with) + mat.Inner(solved, design, solved)
	return solved.RawVector().Data, max(square/max(m.At(0, 0), 1), leastVariance)
}
