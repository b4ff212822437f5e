package law

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/dist"
)

// Closer is the result of a closer look at the records, of how K columns of numbers vary together: their
// covariance, each in its own standard deviations, in directions whose units are about as long as
// the records spread along them. So the noise of a narrow direction is a part of its own variance.
type Closer struct {
	Columns []int `json:"columns"` // of the law
	// Basis is [K x K], row-major: a row is a direction, times its unit.
	Basis []float64 `json:"basis"`
	// Moments are the covariance along the directions, in their units, [K x K], SD the standard
	// deviations of their noise.
	Moments []float64 `json:"moments"`
	SD      []float64 `json:"sd"`
	// Correlation are the correlations of the columns, [K x K], CorrelationSD what is not known of them.
	Correlation   []float64 `json:"correlation"`
	CorrelationSD []float64 `json:"correlation_sd"`
}

// leastMoment is the least variance of a direction in its unit.
const leastMoment = 1e-3

// correlation is the positive definite correlation matrix of the columns.
func (c *Closer) correlation() []float64 {
	k := len(c.Columns)
	moments := spectral(c.Moments, k, func(x float64, _ []float64) float64 { return max(x, leastMoment) })
	var out mat.Dense
	basis := mat.NewDense(k, k, c.Basis)
	out.Product(basis.T(), mat.NewDense(k, k, moments), basis)
	square := out.RawMatrix().Data
	correlated(square, k)
	return square
}

// noisy is what is known of the moments.
func (c *Closer) noisy() noisyMatrix { return noisyMatrix{c.Moments, c.SD, len(c.Columns)} }

// drawn are moments that may be the truth.
func (c *Closer) drawn(rng dist.Rand) *Closer {
	out := c.noiseless()
	out.Moments = c.noisy().drawn(rng)
	return out
}

// noiseless is c with an SD of 0.
func (c *Closer) noiseless() *Closer {
	out := *c
	out.SD = make([]float64, len(c.SD))
	return &out
}

// cautious is c with less variance in the directions that have less than a column of their own, see
// cautiousCorrelation.
func (c *Closer) cautious() *Closer {
	k, out := len(c.Columns), c.noiseless()
	out.Moments = spectral(c.Moments, k, func(x float64, _ []float64) float64 { return max(x, leastMoment) })
	factor := make([]float64, k)
	for e := range factor {
		direction, x := c.Basis[e*k:e*k+k], out.Moments[e*k+e]
		factor[e] = 1
		if floats.Dot(direction, direction)*x < 1 {
			factor[e] = math.Sqrt(max(1-caution*c.SD[e*k+e]/x, min(1, leastDirection/x)))
		}
	}
	for i := range out.Moments {
		out.Moments[i] *= factor[i/k] * factor[i%k]
	}
	return out
}

// SetCloser gives l the result of a closer look, as its moments are positive definite. The correlations of
// its columns and their own parts follow from them.
func (l *Law) SetCloser(c *Closer) {
	k := len(c.Columns)
	mean, sd := c.noisy().moments(knownByDraws, func(moments []float64) []float64 {
		own := &Closer{Columns: c.Columns, Basis: c.Basis, Moments: moments}
		a := own.correlation()
		return slices.Concat(moments, a, OwnParts(a, k))
	})
	c.Moments, c.Correlation, c.SD, c.CorrelationSD = mean[:k*k], mean[k*k:2*k*k], sd[:k*k], sd[k*k:2*k*k]
	for j, i := range c.Columns {
		l.Columns[i].Own, l.Columns[i].OwnSD = mean[2*k*k+j], sd[2*k*k+j]
	}
	l.Closer = c
}

// LooksCloser reports whether a closer look is about column i.
func (l *Law) LooksCloser(i int) bool { return l.Columns[i].OwnSD > 0 }

// Correlated is the correlation of columns i and j, and what is not known of it: that of the numbers after a
// closer look at both, else that of their normal scores.
func (l *Law) Correlated(i, j int) (rho, sd float64) {
	if c := l.Closer; c != nil {
		a, b := slices.Index(c.Columns, i), slices.Index(c.Columns, j)
		if a >= 0 && b >= 0 {
			at := a*len(c.Columns) + b
			return c.Correlation[at], c.CorrelationSD[at]
		}
	}
	at := i*len(l.Columns) + j
	return l.Correlation[at], l.CorrelationSD[at]
}

// OwnParts are the parts of columns' variances that the others do not explain, by their correlations [k x k]:
// the reciprocals of the diagonal of the inverse; 0 if it has none.
func OwnParts(a []float64, k int) []float64 {
	parts := make([]float64, k)
	if inverse := inverted(a, k); inverse != nil {
		for j := range parts {
			parts[j] = 1 / inverse.At(j, j)
		}
	}
	return parts
}

// inverted is the inverse of a correlation matrix [k x k]; nil if it has none, or no columns.
func inverted(a []float64, k int) *mat.SymDense {
	if k == 0 {
		return nil
	}
	var c mat.Cholesky
	inverse := mat.NewSymDense(k, nil)
	if !c.Factorize(mat.NewSymDense(k, a)) || c.InverseTo(inverse) != nil {
		return nil
	}
	return inverse
}

// mover moves the numbers of records as little as possible so that they vary together as in the closer
// look. Numbers drawn one by one from histograms do so only about: of two equal columns the noise
// of their cells bends each in its own way.
type mover struct {
	columns  []*Column
	at       []int     // of the columns, in the law
	mean, sd []float64 // of drawn records, transformed
	matrix   []float64 // [K x K], of numbers in these units
}

// moverRecords is the number of drawn records that show how they vary before they are moved.
const moverRecords = 8192

// newMover is that of a law with a closer look.
func (l *Law) newMover() *mover {
	c := l.Closer.cautious()
	k := len(c.Columns)
	m := &mover{at: c.Columns, mean: make([]float64, k), sd: make([]float64, k)}
	values := make([][]float64, len(l.Columns))
	for i := range values {
		values[i] = make([]float64, moverRecords)
	}
	l.drawOnce(values, &splitMix{})
	drawn := mat.NewDense(moverRecords, k, nil)
	for j, i := range c.Columns {
		own := &l.Columns[i]
		m.columns = append(m.columns, own)
		for b, x := range values[i] {
			x = own.declared.Transformed(x)
			drawn.Set(b, j, x)
			m.mean[j] += x / moverRecords
		}
		for b := range values[i] {
			m.sd[j] = math.Hypot(m.sd[j], (drawn.At(b, j)-m.mean[j])/math.Sqrt(moverRecords))
		}
		m.sd[j] = cmp.Or(m.sd[j], 1)
		for b := range values[i] {
			drawn.Set(b, j, (drawn.At(b, j)-m.mean[j])/m.sd[j])
		}
	}
	var square mat.SymDense
	square.SymOuterK(1./moverRecords, drawn.T())
	m.matrix = transportOf(square.RawSymmetric().Data, c.correlation(), k)
	return m
}

// leastDrawn is the least variance of a direction of drawn records.
const leastDrawn = 1e-4

// transportOf is the symmetric matrix T [k x k] with T from T = to, of covariances: the map between
// normals that moves them least (Olkin and Pukelsheim 1982, doi:10.1016/0024-3795(82)90112-4).
func transportOf(from, to []float64, k int) []float64 {
	root := mat.NewDense(k, k, spectral(from, k, func(x float64, _ []float64) float64 { return math.Sqrt(max(x, leastDrawn)) }))
	inverse := mat.NewDense(k, k, spectral(from, k, func(x float64, _ []float64) float64 { return 1 / math.Sqrt(max(x, leastDrawn)) }))
	var inner, out mat.Dense
	inner.Product(root, mat.NewDense(k, k, to), root)
	middle := spectral(inner.RawMatrix().Data, k, func(x float64, _ []float64) float64 { return math.Sqrt(max(x, 0)) })
	out.Product(inverse, mat.NewDense(k, k, middle), inverse)
	return out.RawMatrix().Data
}

// move moves records in place. Whole numbers do not stay whole, nor numbers at their bounds within them.
func (m *mover) move(values [][]float64) {
	k := len(m.at)
	units := make([]float64, k)
	for b := range values[m.at[0]] {
		for j, i := range m.at {
			units[j] = (m.columns[j].declared.Transformed(values[i][b]) - m.mean[j]) / m.sd[j]
		}
		for j, i := range m.at {
			x := 0.0
			for h, u := range units {
				x += m.matrix[j*k+h] * u
			}
			values[i][b] = m.columns[j].declared.Untransformed(m.mean[j] + m.sd[j]*x)
		}
	}
}

// spectral is the symmetric matrix a [n x n] with other eigenvalues; the identity if a has none.
func spectral(a []float64, n int, to func(value float64, vector []float64) float64) []float64 {
	out := make([]float64, n*n)
	var eigen mat.EigenSym
	if n == 0 || !eigen.Factorize(mat.NewSymDense(n, slices.Clone(a)), true) {
		for i := range n {
			out[i*n+i] = 1
		}
		return out
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for e, value := range eigen.Values(nil) {
		vector := mat.Col(nil, e, &vectors)
		value = to(value, vector)
		for i, x := range vector {
			for j, y := range vector {
				out[i*n+j] += x * value * y
			}
		}
	}
	return out
}

// correlated divides a covariance matrix [n x n] by its standard deviations.
func correlated(a []float64, n int) {
	scale := make([]float64, n)
	for i := range n {
		scale[i] = math.Sqrt(a[i*n+i])
	}
	for i := range n {
		for j := range i {
			x := a[i*n+j] / (scale[i] * scale[j])
			a[i*n+j], a[j*n+i] = x, x
		}
		a[i*n+i] = 1
	}
}
