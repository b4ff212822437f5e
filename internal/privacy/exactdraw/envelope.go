package exactdraw

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// envelope bounds the posterior from above: with A the curvature at the mode φ* and
// r = |φ − φ*| in the metric of A,
//
//	U(φ) ≥ U(φ*) + rise(r) − tilt·r.
//
// Terms may be left out of A and of rise: convex as they are, they make U no smaller. That helps where one is
// so long that it is a kink beside the mode, where its curvature is great, and small all around.
//
// f has |f‴| ≤ f″ (Bach 2010, arXiv:0910.4627), so that along a line the curvature of a term
// falls no faster than e^−|t|, t the change of z. The terms' mean |t| is at most steep·r.
type envelope struct {
	sure  float64 // part of A that is left whatever rounding did to it
	prior float64 // least share of the prior in the curvature of a direction
	steep float64
	tilt  float64 // length of the gradient at φ*
}

// psi is ∫₀¹ (1 − u) e^−su du = (e^−s + s − 1)/s².
func psi(s float64) float64 {
	if s < 0.03 { // the next term is below 1e-13
		return 1./2 - s*(1./6-s*(1./24-s*(1./120-s*(1./720-s*(1./5040-s/40320)))))
	}
	return (math.Expm1(-s) + s) / (s * s)
}

// rise is increasing in r.
func (e *envelope) rise(r float64) float64 {
	return e.sure * r * r * (e.prior/2 + (1-e.prior)*psi(e.steep*r))
}

// safe is the relative error of an eigenvalue or a norm, and more.
const safe = 1e-9

// mostQuartic bounds the work for the fourth moments, which make steep smaller.
const mostQuartic = 1 << 30

// envelope is that of the curvature with this root (A = C Cᵀ), at the mode.
func (p *Posterior) envelope(phi, gradient []float64, root *mat.Cholesky) *envelope {
	e, white := new(envelope), whitening(root)
	e.tilt = mat.Norm(white(gradient), 2) * (1 + safe)
	a := mat.NewSymDense(p.d, nil)
	root.ToSym(a)
	most := largest(a)
	e.prior = (1 - safe) / most
	// a curvature is at least 1; that of a term errs with its z, and the sum by its size
	e.sure = 1 - min(0.5, float64(p.d+16)*0x1p-50*(most+Longest*(1+mat.Norm(mat.NewVecDense(p.d, phi), 2))))
	size := p.d * (p.d + 1) / 2
	var quartic *mat.SymDense
	if len(p.weights)*size*size < mostQuartic {
		quartic = mat.NewSymDense(size, nil)
	}
	furthest, square := 0.0, mat.NewVecDense(size, nil)
	for i, w := range p.weights {
		if w == 0 { // not kept
			continue
		}
		t := white(p.row(i))
		furthest = max(furthest, mat.Norm(t, 2))
		if quartic == nil {
			continue
		}
		at := 0
		for j := range p.d {
			for k := range j {
				square.SetVec(at, math.Sqrt2*t.AtVec(j)*t.AtVec(k))
				at++
			}
			square.SetVec(at, t.AtVec(j)*t.AtVec(j))
			at++
		}
		tail := p.tail(i, phi)
		quartic.SymRankOne(quartic, w*tail*(1-tail), square)
	}
	e.steep = furthest * (1 + safe)
	if quartic != nil && e.prior < 1 {
		e.steep = min(e.steep, math.Sqrt(largest(quartic)/(1-e.prior))*(1+safe))
	}
	return e
}

// whitening returns the function that takes x to C⁻¹x.
func whitening(root *mat.Cholesky) func(x []float64) *mat.VecDense {
	var c mat.TriDense
	root.LTo(&c)
	return func(x []float64) *mat.VecDense {
		v := mat.NewVecDense(len(x), nil)
		if err := v.SolveVec(&c, mat.NewVecDense(len(x), x)); err != nil {
			panic("exactdraw: " + err.Error())
		}
		return v
	}
}

// leverages (N) are w·f″·|C⁻¹a|² of each record at phi, its part of the curvature A = C Cᵀ in the direction
// where that part is the greatest.
func (p *Posterior) leverages(phi []float64, root *mat.Cholesky) []float64 {
	white, list := whitening(root), make([]float64, len(p.weights))
	for i, w := range p.weights {
		tail, t := p.tail(i, phi), white(p.row(i))
		list[i] = w * tail * (1 - tail) * mat.Dot(t, t)
	}
	return list
}

// below is p without the records whose leverage is at least bound. all reports that every record stays.
func (p *Posterior) below(bound float64, leverages []float64) (kept *Posterior, all bool) {
	one := *p
	one.weights, all = slices.Clone(p.weights), true
	for i, leverage := range leverages {
		if leverage >= bound {
			one.weights[i], all = 0, false
		}
	}
	return &one, all
}

// largest is the largest eigenvalue.
func largest(a *mat.SymDense) float64 {
	var eigen mat.EigenSym
	if !eigen.Factorize(a, false) {
		panic("exactdraw: no eigenvalues")
	}
	values := eigen.Values(nil)
	return values[len(values)-1]
}
