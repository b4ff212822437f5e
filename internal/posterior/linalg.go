package posterior

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/simd"
)

// symmetric is (a + aᵀ)/2.
func symmetric(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			out.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	return out
}

// diagonal returns the covariance of independent coordinates with standard
// deviations exp(logSD), and that of noise with these variances.
func diagonal(logSD, variance []float64) (ofGuide, ofNoise *mat.SymDense) {
	n := len(logSD)
	ofGuide, ofNoise = mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for j := range n {
		ofGuide.SetSym(j, j, math.Exp(2*logSD[j]))
		ofNoise.SetSym(j, j, variance[j])
	}
	return ofGuide, ofNoise
}

// submatrix is a at the rows and columns index.
func submatrix(a *mat.SymDense, index []int) *mat.SymDense {
	out := mat.NewSymDense(len(index), nil)
	for i, r := range index {
		for j, c := range index[:i+1] {
			out.SetSym(i, j, a.At(r, c))
		}
	}
	return out
}

// setSubmatrix sets the entries of a among the coordinates index to those of b.
func setSubmatrix(a *mat.SymDense, index []int, b *mat.SymDense) {
	for i, j := range index {
		for k := range i + 1 {
			a.SetSym(j, index[k], b.At(i, k))
		}
	}
}

// withFloor raises the diagonal of a so that the diagonal of a + b is at least floor. It returns a.
func withFloor(a, b *mat.SymDense, floor []float64) *mat.SymDense {
	for j, f := range floor {
		if lack := f - a.At(j, j) - b.At(j, j); lack > 0 {
			a.SetSym(j, j, a.At(j, j)+lack)
		}
	}
	return a
}

// noisyInformation is H(J + v)⁻¹H, for J = √R H √R with the diagonal matrix
// R = ratio; nil where an entry is not finite.
func noisyInformation(h *mat.SymDense, ratio []float64, v float64) *mat.SymDense {
	sum := noisyVariance(h, ratio, v)
	var c mat.Cholesky
	var half, out mat.Dense
	if !simd.Finite(sum.RawSymmetric().Data) || !c.Factorize(sum) || c.SolveTo(&half, h) != nil {
		return nil
	}
	out.Mul(h, &half)
	return symmetric(&out)
}

// noisyVariance is J + v of noisyInformation.
func noisyVariance(h *mat.SymDense, ratio []float64, v float64) *mat.SymDense {
	n := h.SymmetricDim()
	sum := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sum.SetSym(i, j, h.At(i, j)*math.Sqrt(ratio[i]*ratio[j]))
		}
		sum.SetSym(i, i, sum.At(i, i)+v)
	}
	return sum
}

// split divides total into the part within exact and the part beyond it, both
// positive semidefinite; nil where total is not positive definite.
func split(total, exact *mat.SymDense) (within, beyond *mat.SymDense) {
	var c mat.Cholesky
	if !simd.Finite(total.RawSymmetric().Data) || !c.Factorize(total) {
		return nil, nil
	}
	var l mat.TriDense
	var half, whitened mat.Dense
	c.LTo(&l)
	if half.Solve(&l, exact) != nil || whitened.Solve(&l, half.T()) != nil {
		return nil, nil
	}
	values, vectors := eigen(symmetric(&whitened))
	if vectors == nil {
		return nil, nil
	}
	// total is LLᵀ and exact is LWLᵀ: eigenvalues of W count for at most 1
	coloured := func(f func(e float64) float64) *mat.SymDense {
		var left, both mat.Dense
		left.Mul(&l, composed(values, vectors, f))
		both.Mul(&left, l.T())
		return symmetric(&both)
	}
	return coloured(func(e float64) float64 { return math.Min(e, 1) }),
		coloured(func(e float64) float64 { return math.Max(0, 1-e) })
}

// spectral is a with f ≥ 0 applied to its eigenvalues, negative ones taken as 0;
// nil where an entry is not finite.
func spectral(a *mat.SymDense, f func(e float64) float64) *mat.SymDense {
	values, vectors := eigen(a)
	if vectors == nil {
		return nil
	}
	return composed(values, vectors, f)
}

// composed is the matrix with these eigenvectors, in columns, and f ≥ 0 applied to
// the eigenvalues, negative ones taken as 0.
func composed(values []float64, vectors *mat.Dense, f func(e float64) float64) *mat.SymDense {
	scaled := mat.DenseCopyOf(vectors)
	for i, e := range values {
		column := scaled.ColView(i).(*mat.VecDense)
		column.ScaleVec(math.Sqrt(f(math.Max(0, e))), column)
	}
	out := mat.NewSymDense(len(values), nil)
	out.SymOuterK(1, scaled)
	return out
}

// eigen returns the eigenvalues of a, ascending, and its eigenvectors, in columns;
// nil where an entry is not finite.
func eigen(a *mat.SymDense) (values []float64, vectors *mat.Dense) {
	var e mat.EigenSym
	if !simd.Finite(a.RawSymmetric().Data) || !e.Factorize(a, true) {
		return nil, nil
	}
	vectors = new(mat.Dense)
	e.VectorsTo(vectors)
	return e.Values(nil), vectors
}

// inverse is (a + b)⁻¹, nil when that is not positive definite or a is nil.
func inverse(a, b *mat.SymDense) *mat.SymDense {
	if a == nil {
		return nil
	}
	n := a.SymmetricDim()
	sum, out := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	sum.AddSym(a, b)
	var c mat.Cholesky
	if !c.Factorize(sum) || c.InverseTo(out) != nil {
		return nil
	}
	return out
}

// lower is the lower triangle of a Cholesky factor, row by row: n(n+1)/2 numbers.
func lower(c *mat.Cholesky) []float64 {
	var l mat.TriDense
	c.LTo(&l)
	var out []float64
	for i := range c.SymmetricDim() {
		for j := range i + 1 {
			out = append(out, l.At(i, j))
		}
	}
	return out
}

// product is LLᵀ of a lower triangle as lower gives it.
func product(triangle []float64, n int) *mat.SymDense {
	l, out := mat.NewDense(n, n, nil), mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			l.Set(i, j, triangle[0])
			triangle = triangle[1:]
		}
	}
	out.SymOuterK(1, l)
	return out
}
