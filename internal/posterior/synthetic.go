package posterior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/simd"
)

// synthetic is the log likelihood of f, the mean released gradient, as a normal
// whose moments the simulated records have (a synthetic likelihood: Wood 2010,
// doi:10.1038/nature09319):
//
//	linear·δ − δᵀ A δ/2,  δ = φ(θ) − point.
type synthetic struct {
	effects
	point  []float64
	linear []float64     // slopeᵀ(V + v̄)⁻¹(f − mean)
	square *mat.SymDense // A = slopeᵀ(V + v̄)⁻¹slope
	exact  *mat.SymDense // A without the noise v̄
	gain   *mat.Dense    // (V + v̄)⁻¹slope

	at, delta, slope []float64
	product          *lastProduct
}

// nearlyNone is a part of the noise without which variances might have no inverse.
const nearlyNone = 1e-6

// newSynthetic is the log likelihood of f (P), whose noise has variance v̄ and beside it along
// unlike (P), unless it is nil, by the moments x; nil where it is not finite.
func newSynthetic(f []float64, noiseVariance float64, unlike []float64, x moments) *synthetic {
	p := len(f)
	rest := make([]float64, p)
	simd.Sub(rest, f, x.mean)
	noisy := x.noisy(noiseVariance)
	if unlike != nil {
		noisy.SymRankOne(noisy, 1, mat.NewVecDense(p, unlike))
	}
	linear, square, gain := normalEquations(x, noisy, rest)
	_, exact, _ := normalEquations(x, x.noisy(nearlyNone*noiseVariance), rest)
	if square == nil || exact == nil {
		return nil
	}
	return &synthetic{
		effects: x.effects, point: x.point, linear: linear, square: square, exact: exact, gain: gain,
		at: make([]float64, p), delta: make([]float64, p), slope: make([]float64, p), product: newLastProduct(p),
	}
}

// logNormal is log N(x; 0, variance) without its constant; -∞ where that is not finite.
func logNormal(x []float64, variance *mat.SymDense) float64 {
	var c mat.Cholesky
	var solved mat.VecDense
	off := mat.NewVecDense(len(x), x)
	if !simd.Finite(x) || !simd.Finite(variance.RawSymmetric().Data) || !c.Factorize(variance) || c.SolveVecTo(&solved, off) != nil {
		return math.Inf(-1)
	}
	return -(c.LogDet() + mat.Dot(&solved, off)) / 2
}

// normalEquations are slopeᵀ variance⁻¹ rest, slopeᵀ variance⁻¹ slope and variance⁻¹ slope; nil where they are not
// finite.
func normalEquations(x moments, variance *mat.SymDense, rest []float64) ([]float64, *mat.SymDense, *mat.Dense) {
	p := len(rest)
	var c mat.Cholesky
	var half, square mat.Dense
	var solved, linear mat.VecDense
	if !simd.Finite(variance.RawSymmetric().Data) || !simd.Finite(x.slope.RawMatrix().Data) || !simd.Finite(rest) ||
		!c.Factorize(variance) || c.SolveTo(&half, x.slope) != nil || c.SolveVecTo(&solved, mat.NewVecDense(p, rest)) != nil {
		return nil, nil, nil
	}
	square.Mul(x.slope.T(), &half)
	linear.MulVec(x.slope.T(), &solved)
	return linear.RawVector().Data, symmetric(&square), &half
}

// addDensity adds the gradient at theta (P) to gradient and returns the log
// likelihood.
func (q *synthetic) addDensity(gradient, theta []float64) float64 {
	q.phi(q.at, theta)
	simd.Sub(q.delta, q.at, q.point)
	q.product.of(q.slope, q.square, q.delta)
	value := simd.Dot(q.linear, q.delta) - simd.Dot(q.delta, q.slope)/2
	simd.Sub(q.slope, q.linear, q.slope)
	q.push(q.slope, theta, q.at)
	simd.Add(gradient, gradient, q.slope)
	return value
}

// lastProduct remembers the last whole product: most differences of a Hessian change few coordinates.
type lastProduct struct {
	x, ax   []float64 // (P)
	changed []int
}

// A change of one in fewChanged coordinates or more takes about as long as a whole product.
const fewChanged = 16

func newLastProduct(p int) *lastProduct {
	return &lastProduct{slices.Repeat([]float64{math.NaN()}, p), make([]float64, p), make([]int, 0, p/fewChanged+1)}
}

// of sets dst to a·x. The matrix a is the same in all calls.
func (q *lastProduct) of(dst []float64, a *mat.SymDense, x []float64) {
	q.changed = q.changed[:0]
	for k := 0; k < len(x) && len(q.changed) < cap(q.changed); k++ {
		if x[k] != q.x[k] {
			q.changed = append(q.changed, k)
		}
	}
	if len(q.changed) == cap(q.changed) {
		multiply(dst, a, x)
		copy(q.x, x)
		copy(q.ax, dst)
		return
	}
	raw := a.RawSymmetric() // its upper triangle
	copy(dst, q.ax)
	for _, k := range q.changed {
		change := x[k] - q.x[k]
		for i := range k {
			dst[i] += change * raw.Data[i*raw.Stride+k]
		}
		simd.Axpy(dst[k:], change, raw.Data[k*raw.Stride+k:k*raw.Stride+raw.N])
	}
}

// multiply sets dst to a·x.
func multiply(dst []float64, a *mat.SymDense, x []float64) {
	raw := a.RawSymmetric() // its upper triangle
	clear(dst)
	for i := range x {
		row := raw.Data[i*raw.Stride+i : i*raw.Stride+raw.N]
		dst[i] += simd.Dot(row, x[i:])
		simd.Axpy(dst[i+1:], x[i], row[1:])
	}
}

// information is A, with the noise and without, for θ instead of φ, at theta.
func (q *synthetic) information(theta []float64) (noisy, exact *mat.SymDense) {
	p := len(theta)
	jacobian := mat.NewDense(p, p, nil)
	q.phi(q.at, theta)
	for j := range p {
		row := jacobian.RawRowView(j) // ∂φ_j/∂θ
		row[j] = 1
		q.push(row, theta, q.at)
	}
	of := func(a *mat.SymDense) *mat.SymDense {
		var half, both mat.Dense
		half.Mul(a, jacobian)
		both.Mul(jacobian.T(), &half)
		return symmetric(&both)
	}
	return of(q.square), of(q.exact)
}
