package exactdraw

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Optimum is the public frame of the minimum of
//
//	U(φ) = λ|φ|²/2 + Σ f(o_i + a_i·φ) + b·φ,  |a_i| ≤ C, |o_i| ≤ C·Shift.
type Optimum struct {
	D, Records int     // d, and the most terms
	Bound      float64 // C
	Shift      float64
	Ridge      float64 // λ
	Noise      float64 // σ of b, which has normals of at most 16.5σ; 0: none
}

// radius bounds |φ*|: U(φ*) ≤ U(0).
func (o Optimum) radius() float64 {
	b := 16.5 * o.Noise * math.Sqrt(float64(o.D))
	return b/o.Ridge + math.Sqrt(2*float64(o.Records)*(math.Ln2+o.Bound*o.Shift)/o.Ridge+b*b/(o.Ridge*o.Ridge)) + 1
}

// rounding bounds the error of a gradient as computed, for |φ| ≤ radius: that of z by d + 3
// roundings, of f′, whose slope is at most 1/4, and of products by 16; of the compensated sum
// of the terms; and of λφ + b.
func (o Optimum) rounding() float64 {
	const unit = 0x1p-53
	n, d, r := float64(o.Records), float64(o.D), o.radius()
	term := o.Bound * ((d+3)*o.Bound*(o.Shift+r)/4 + 20)
	return 1.01 * unit * (n*term + 4*(o.Ridge*r+16.5*o.Noise*math.Sqrt(d)))
}

// Gap bounds the gradient of U at what Minimum returns, as if there were no rounding and b were
// normal; the minimum is at most Gap/λ away.
func (o Optimum) Gap() float64 {
	return 2*o.rounding() + o.Noise*math.Sqrt(float64(o.D))*0x1p-46
}

// New is a posterior without records whose minimum is asked for. b are normals (d), or nil.
func (o Optimum) New(b []float64) *Posterior {
	p := &Posterior{d: o.D, ridge: o.Ridge, tilt: make([]float64, o.D), at: make(map[string]int)}
	for j, z := range b {
		p.tilt[j] = o.Noise * z
	}
	return p
}

// Minimum is a place where the gradient of U is at most Gap. An error is that of ctx alone. How
// long it takes depends on the records.
func (o Optimum) Minimum(ctx context.Context, p *Posterior) ([]float64, error) {
	phi, gradient, next, there := make([]float64, p.d), make([]float64, p.d), make([]float64, p.d), make([]float64, p.d)
	hessian, step, root := mat.NewSymDense(p.d, nil), mat.NewVecDense(p.d, nil), new(mat.Cholesky)
	limit, radius := o.rounding(), o.radius()
	norm := p.gradient(gradient, phi)
	for ctx.Err() == nil {
		if norm <= limit && mat.Norm(mat.NewVecDense(p.d, phi), 2) <= radius {
			return phi, nil
		}
		p.slope(there, hessian, phi)
		if !root.Factorize(hessian) || root.SolveVecTo(step, mat.NewVecDense(p.d, gradient)) != nil {
			step.ScaleVec(1/mat.Trace(hessian), mat.NewVecDense(p.d, gradient))
		}
		for t := 1.0; t > 1e-9; t /= 2 {
			for j := range next {
				next[j] = phi[j] - t*step.AtVec(j)
			}
			if reached := p.gradient(there, next); reached <= (1-t/4)*norm || t < 2e-9 {
				norm = reached
				break
			}
		}
		phi, next, gradient, there = next, phi, there, gradient
	}
	return nil, ctx.Err()
}

// Slope is the gradient (d) and the curvature of U.
func (p *Posterior) Slope(phi []float64) (gradient []float64, curvature *mat.SymDense) {
	gradient, curvature = make([]float64, p.d), mat.NewSymDense(p.d, nil)
	p.slope(gradient, curvature, phi)
	return gradient, curvature
}

// gradient sets dst to the gradient of U and returns its length. The terms are added up by
// compensate.
func (p *Posterior) gradient(dst, phi []float64) float64 {
	lost := make([]float64, p.d)
	clear(dst)
	for i, w := range p.weights {
		a, z := p.row(i), p.offsets[i]
		for j, x := range a {
			z += x * phi[j]
		}
		tail := w / (1 + math.Exp(z))
		for j, x := range a {
			compensate(&dst[j], &lost[j], -tail*x)
		}
	}
	square := 0.0
	for j, x := range phi {
		dst[j] += p.ridge*x + p.tilt[j]
		square += dst[j] * dst[j]
	}
	return math.Sqrt(square)
}
