package nuts

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/simd"
)

// Rand is the source of random numbers: standard normals, and uniform numbers in [0, 1).
type Rand interface {
	Normal() float64
	Uniform() float64
}

// metric is M, the covariance estimate of the kinetic energy pᵀMp/2: the velocity
// is Mp, and momenta are drawn from N(0, M⁻¹).
type metric interface {
	velocity(dst, momentum []float64)
	momentum(dst []float64, rng Rand)
}

// diagonalMetric has independent variances.
type diagonalMetric struct{ variance []float64 }

func (m diagonalMetric) velocity(dst, momentum []float64) {
	for i, p := range momentum {
		dst[i] = m.variance[i] * p
	}
}

func (m diagonalMetric) momentum(dst []float64, rng Rand) {
	for i := range dst {
		dst[i] = rng.Normal() / math.Sqrt(m.variance[i])
	}
}

// denseMetric has M = LLᵀ, row-major with length D².
type denseMetric struct {
	covariance []float64         // D×D, row-major
	factor     blas64.Triangular // L
	rows       []uint32          // 0 ... D-1
}

// newDenseMetric is nil if the covariance is not positive definite.
func newDenseMetric(covariance *mat.SymDense) *denseMetric {
	var c mat.Cholesky
	if !c.Factorize(covariance) {
		return nil
	}
	n := covariance.SymmetricDim()
	var lower mat.TriDense
	c.LTo(&lower)
	m := &denseMetric{covariance: mat.DenseCopyOf(covariance).RawMatrix().Data, factor: lower.RawTriangular()}
	for i := range n {
		m.rows = append(m.rows, uint32(i))
	}
	return m
}

func (m *denseMetric) velocity(dst, momentum []float64) {
	simd.RowDots64(dst, momentum, m.covariance, len(dst), m.rows, 0)
}

func (m *denseMetric) momentum(dst []float64, rng Rand) {
	for i := range dst {
		dst[i] = rng.Normal()
	}
	// p = L⁻ᵀz has covariance M⁻¹.
	blas64.Trsv(blas.Trans, m.factor, blas64.Vector{N: len(dst), Data: dst, Inc: 1})
}

// covarianceEstimate collects draws of one window of the adaptation.
type covarianceEstimate struct {
	dense bool
	n     float64
	mean  []float64
	delta []float64
	m2    []float64 // D, or D×D row-major if dense
}

func newCovarianceEstimate(size int, dense bool) *covarianceEstimate {
	c := &covarianceEstimate{dense: dense, mean: make([]float64, size), delta: make([]float64, size), m2: make([]float64, size)}
	if dense {
		c.m2 = make([]float64, size*size)
	}
	return c
}

// add takes one draw. Welford 1962.
func (c *covarianceEstimate) add(x []float64) {
	c.n++
	for i, v := range x {
		c.delta[i] = v - c.mean[i]
		c.mean[i] += c.delta[i] / c.n
	}
	for i, d := range c.delta {
		if !c.dense {
			c.m2[i] += d * (x[i] - c.mean[i])
			continue
		}
		row := c.m2[i*len(x) : (i+1)*len(x)]
		for j := range row {
			row[j] += d * (x[j] - c.mean[j])
		}
	}
}

// metric is the estimate shrunk towards a first one, which counts as many draws as there
// are scalars, or towards a small multiple of the identity, as in Stan (reference manual,
// section 15.2). It is nil with too few draws.
func (c *covarianceEstimate) metric(first *mat.SymDense) metric {
	if c.n < 3 {
		return nil
	}
	size := len(c.mean)
	share, floor := c.n/(c.n+5)/(c.n-1), 1e-3*5/(c.n+5)
	if !c.dense {
		v := make([]float64, size)
		for i, m2 := range c.m2 {
			v[i] = share*m2 + floor
		}
		return diagonalMetric{v}
	}
	s := mat.NewSymDense(size, nil)
	if first != nil {
		d := float64(size)
		share, floor = c.n/(c.n+d)/(c.n-1), 0
		s.ScaleSym(d/(c.n+d), first)
	}
	for i := range size {
		for j := i; j < size; j++ {
			s.SetSym(i, j, s.At(i, j)+share*(c.m2[i*size+j]+c.m2[j*size+i])/2)
		}
		s.SetSym(i, i, s.At(i, i)+floor)
	}
	if m := newDenseMetric(s); m != nil {
		return m
	}
	return nil
}
