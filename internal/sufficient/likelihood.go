// Package sufficient is the likelihood of a linear regression with normal errors, given
// noisy sums over the records: second moments of design and response, and gradients.
//
//	y = xγ + e, e ~ N(0, s²)
//
// Sums over the records enter as unknowns: S = Σxxᵀ, h = Σxe and q = Σe². Given S, h is
// normal with covariance s²S, and q about normal with mean ns² and variance 2ns⁴. S has
// a flat prior. So all that is released is a linear function of normals, given γ and s,
// and the likelihood of γ and s is a normal density whose covariance depends on them:
// that of errors in variables (Fuller 1987; Bernstein and Sheldon 2019,
// arXiv:1910.12121, who sample the unknowns).
//
// Letters: P columns of the design; the first column is 1.
package sufficient

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/simd"
)

// Step is a released gradient at γ = At: Slope is Σx(y − x·At), Square is Σ(y − x·At)².
type Step struct {
	At, Slope []float64 // (P)
	Square    float64
	// SlopeNoise is the factor of the covariance of Slope's noise, SquareNoise the
	// standard deviation of Square's.
	SlopeNoise, SquareNoise float64
}

// Likelihood is the likelihood of γ and s.
type Likelihood struct {
	p         int
	positive  *mat.SymDense // the nearest matrix to S without small eigenvalues
	noise     float64       // variance of the noise of each moment
	n, nSD    float64
	weak      bool      // S is weakly known
	released  []float64 // Σxy, Σy²; of the weighted mean of steps the same about its places
	sums      []*sum
	steps     bool
	shape     *mat.SymDense // covariance of the noise of the steps' mean
	squareVar float64
	d, u      []float64     // the releases minus their means, and Σ⁻¹d
	ofErrors  *mat.SymDense // covariance of d by Σxe, in units of s²
}

// NewLikelihood is the likelihood of the moments m and of steps, unless noise hides a direction. The noise
// of a step's slopes has the covariance SlopeNoise²·shape. The steps are weighted for γ = center and
// s² = variance.
func NewLikelihood(m *Moments, shape *mat.SymDense, steps []Step, center []float64, variance float64) *Likelihood {
	p := m.P
	l := &Likelihood{p: p, weak: m.Weak(), noise: m.Noise * m.Noise, n: m.Records, nSD: math.Hypot(m.RecordsSD, m.Unknown*m.Lost*m.Records)}
	for i := range p + 1 {
		l.released = append(l.released, m.Weighted(i, p))
	}
	l.positive = floored(m.Design(), m.Noise)
	l.sums = []*sum{ofMoments(m)}
	if len(steps) > 0 && !m.hides() {
		l.average(m, shape, steps, center, variance)
	}
	size := l.size()
	l.d, l.u, l.ofErrors = make([]float64, size), make([]float64, size), mat.NewSymDense(size, nil)
	return l
}

// size is the number of released sums that the likelihood is of.
func (l *Likelihood) size() int {
	if l.steps {
		return 2*l.p + 2
	}
	return l.p + 1
}

// average makes one step of all, with the weights of the least variance at γ = center and
// s² = variance. What is not known of S counts by the distance from there: the weights of
// steps at different places use the information of all steps about S.
func (l *Likelihood) average(m *Moments, shape *mat.SymDense, steps []Step, center []float64, variance float64) {
	p, count := l.p, len(steps)
	unknown := m.design(func(i, j int) float64 { return square(m.Unknown * m.cut(i, j)) })
	errors := m.design(func(i, j int) float64 { return l.noise + unknown.At(i, j) })
	l.steps = true
	slope, at, squareAt, spread, squares := make([]float64, p), make([]float64, p), make([]float64, p), mat.NewSymDense(p, nil), 0.0
	off := make([]*mat.VecDense, count)
	for t, s := range steps {
		off[t] = mat.NewVecDense(p, nil)
		off[t].SubVec(mat.NewVecDense(p, center), mat.NewVecDense(p, s.At))
	}
	ofSlope, ofSquare := mat.NewSymDense(count, nil), mat.NewSymDense(count, nil)
	product, ones := mat.NewVecDense(p, nil), mat.NewVecDense(p, slices.Repeat([]float64{1}, p))
	for t, s := range steps {
		for u := range t + 1 {
			product.MulElemVec(off[t], off[u])
			ofSlope.SetSym(t, u, mat.Inner(ones, errors, product)/float64(p))
			ofSquare.SetSym(t, u, 2*mat.Inner(product, errors, product)+4*variance*mat.Inner(off[t], l.positive, off[u]))
		}
		ofSlope.SetSym(t, t, ofSlope.At(t, t)+s.SlopeNoise*s.SlopeNoise*mat.Trace(shape)/float64(p))
		ofSquare.SetSym(t, t, ofSquare.At(t, t)+s.SquareNoise*s.SquareNoise)
	}
	of, by := bestWeights(ofSlope), bestWeights(ofSquare)
	slopeVar := 0.0
	for t, s := range steps {
		for j := range p {
			slope[j] += of[t] * s.Slope[j]
			at[j] += of[t] * s.At[j]
			squareAt[j] += by[t] * s.At[j]
		}
		squares += by[t] * s.Square
		spread.SymRankOne(spread, by[t], mat.NewVecDense(p, s.At))
		slopeVar += of[t] * of[t] * s.SlopeNoise * s.SlopeNoise
		l.squareVar += by[t] * by[t] * s.SquareNoise * s.SquareNoise
	}
	spread.SymRankOne(spread, -1, mat.NewVecDense(p, squareAt))
	l.released = append(append(l.released, slope...), squares)
	s := newSum(p+1, at, squareAt, spread)
	s.ofSlope, s.kept = m.Design(), 1
	s.ofSquare, s.unknown = s.ofSlope, unknown
	l.sums = append(l.sums, s)
	l.shape = mat.NewSymDense(p, nil)
	l.shape.ScaleSym(slopeVar, shape)
}

// bestWeights have the sum 1 and the least variance, of estimates with the covariance c.
func bestWeights(c *mat.SymDense) []float64 {
	n := c.SymmetricDim()
	w, ones := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for j := range n {
		ones.SetVec(j, 1)
	}
	var root mat.Cholesky
	if !root.Factorize(c) || root.SolveVecTo(w, ones) != nil {
		w = ones
	}
	w.ScaleVec(1/mat.Sum(w), w)
	return w.RawVector().Data
}

// floored is a with eigenvalues of at least least.
func floored(a *mat.SymDense, least float64) *mat.SymDense {
	n := a.SymmetricDim()
	var e mat.EigenSym
	out := mat.NewSymDense(n, nil)
	if !e.Factorize(a, true) {
		for j := range n {
			out.SetSym(j, j, math.Max(a.At(j, j), least))
		}
		return out
	}
	var v mat.Dense
	e.VectorsTo(&v)
	for j, value := range e.Values(nil) {
		out.SymRankOne(out, math.Max(value, least), v.ColView(j))
	}
	return out
}

// Density is the log density of the releases, up to a constant, at γ (P) and s = exp(logS).
// It sets gradient (P+1), unless it is nil, to the derivatives in γ and log s.
func (l *Likelihood) Density(gradient, gamma []float64, logS float64) float64 {
	p, size := l.p, l.size()
	s := math.Exp(logS)
	variance := s * s
	l.model(gamma, s)
	covariance := l.noises(s)
	if !simd.Finite(covariance.RawSymmetric().Data) {
		return math.Inf(-1)
	}
	root, ok := lapack64.Potrf(covariance.RawSymmetric())
	if !ok {
		return math.Inf(-1)
	}
	copy(l.u, l.d)
	lapack64.Potrs(root, blas64.General{Rows: size, Cols: 1, Stride: 1, Data: l.u})
	value := floats.Dot(l.u, l.d) + logDet(root)
	var ofBare *mat.SymDense
	if l.weak {
		ofBare = l.noises(0)
		bare, ok := lapack64.Potrf(ofBare.RawSymmetric())
		if !ok {
			return math.Inf(-1)
		}
		value -= logDet(bare)
		lapack64.Potri(bare)
	}
	value /= -2
	if gradient == nil {
		return value
	}
	// W = uuᵀ − Σ⁻¹: the density changes by −u·∂d + <W, ∂Σ>/2
	lapack64.Potri(root)
	w := covariance
	w.ScaleSym(-1, w)
	w.SymRankOne(w, 1, mat.NewVecDense(size, l.u))
	if ofBare == nil {
		ofBare = w
	} else {
		ofBare.AddSym(ofBare, w)
	}
	clear(gradient)
	l.towardsMean(gradient)
	for _, a := range l.sums {
		l.towardsErrors(gradient, w, a, variance)
		for _, b := range l.sums {
			l.towardsNoise(gradient, ofBare, a, b)
		}
	}
	gradient[p] = l.towardsLogS(gradient[p], w, variance)
	return value
}

// towardsLogS adds to g the derivative in log s: that of Σe² at every square, of Σxe, and of n.
func (l *Likelihood) towardsLogS(g float64, w *mat.SymDense, variance float64) float64 {
	p, size := l.p, l.size()
	for _, a := range l.sums {
		g += 2 * l.n * a.kept * variance * l.u[a.square]
		for _, b := range l.sums {
			g += 4 * l.n * variance * variance * w.At(a.square, b.square)
		}
	}
	for i := range size {
		for j := range size {
			g += w.At(i, j) * l.ofErrors.At(i, j) * variance
		}
	}
	g += 2 * l.nSD * l.nSD * variance * variance * w.At(p, p)
	return g
}

// logDet is the log determinant of the matrix with the Cholesky factor root.
func logDet(root blas64.Triangular) float64 {
	sum := 0.0
	for i := range root.N {
		sum += 2 * math.Log(root.Data[i*root.Stride+i])
	}
	return sum
}

// sum is a released pair Σx(y − x·at) and Σ(y − x·at)², about a place: of the moments,
// 0, and of the steps their mean. S enters the pair as Sa and as <M, S>:
//
//	a = γ − at,  M = bbᵀ + spread,  b = γ − squareAt
//
// Of the moments S is that of the weighted records. What weights pull is taken from S: once
// for the slopes, twice for the square.
type sum struct {
	first, square     int // their places in d
	at, squareAt      []float64
	spread            *mat.SymDense
	ofSlope, ofSquare *mat.SymDense // S
	kept              float64       // part of Σe²
	unknown           *mat.SymDense // variances of the errors of S beside the noise
	a, b              []float64
	m                 *mat.SymDense
}

// ofMoments is the sum of the moments.
func ofMoments(m *Moments) *sum {
	s := newSum(0, make([]float64, m.P), make([]float64, m.P), mat.NewSymDense(m.P, nil))
	s.ofSlope = m.design(m.Sloping)
	s.ofSquare = m.design(func(i, j int) float64 { return m.Weighted(i, j) - 2*m.pull(i, j) })
	s.unknown = m.design(func(i, j int) float64 { return square(m.Unknown * m.pull(i, j)) })
	s.kept = 1 - m.Lost
	return s
}

// error is the covariance of the errors of entry i, j of S in both sums.
func (l *Likelihood) error(s, t *sum, i, j int) float64 {
	if s == t {
		return l.noise + s.unknown.At(i, j)
	}
	return l.noise
}

func square(x float64) float64 { return x * x }

func newSum(first int, at, squareAt []float64, spread *mat.SymDense) *sum {
	p := len(at)
	return &sum{first: first, square: first + p, at: at, squareAt: squareAt, spread: spread, a: make([]float64, p), b: make([]float64, p), m: mat.NewSymDense(p, nil)}
}

// towardsMean adds −u·∂d/∂γ.
func (l *Likelihood) towardsMean(gradient []float64) {
	for _, s := range l.sums {
		u := l.u[s.first:s.square]
		for k := range l.p {
			for i := range l.p {
				gradient[k] += s.ofSlope.At(i, k)*u[i] + 2*s.ofSquare.At(i, k)*l.u[s.square]*s.b[i]
			}
		}
	}
}

// towardsErrors adds <W, ∂Σ/∂γ>/2 of the part of Σ by Σxe, by way of the square of s: its
// derivative in h is 2b.
func (l *Likelihood) towardsErrors(gradient []float64, w *mat.SymDense, s *sum, variance float64) {
	p := l.p
	row := make([]float64, p)
	for _, t := range l.sums {
		for j := range p {
			row[j] += w.At(s.square, t.first+j) + 2*w.At(s.square, t.square)*t.b[j]
		}
	}
	for k := range p {
		for j := range p {
			gradient[k] += 2 * variance * row[j] * l.positive.At(j, k)
		}
	}
}

// towardsNoise adds <W, ∂Σ/∂γ>/2 of the covariance of s with t by the noise of S, as far as s
// depends on γ. Each pair is called both ways.
func (l *Likelihood) towardsNoise(gradient []float64, w *mat.SymDense, s, t *sum) {
	p, ofM := l.p, w.At(s.square, t.square)
	for k := range p {
		// in a of s: with a and with M of t
		g := -l.error(s, t, k, k) * (w.At(s.first+k, t.first+k)*t.a[k] + t.m.At(k, k)*w.At(s.first+k, t.square))
		// in M of s: with a and with M of t, times 2b
		ofB := 0.0
		for j := range p {
			ofEntry := l.error(s, t, k, j)
			g += ofEntry * (w.At(s.first+j, t.first+j)*t.a[k] + w.At(s.first+j, t.first+k)*t.a[j] + 2*t.m.At(k, j)*w.At(s.first+j, t.square))
			v, x := w.At(t.first+k, s.square), w.At(t.first+j, s.square)
			one := v*t.a[j] + x*t.a[k] + 2*ofM*t.m.At(k, j)
			if j == k {
				one -= v*t.a[k] + ofM*t.m.At(k, k)
			}
			ofB += ofEntry * one * s.b[j]
		}
		gradient[k] += g + 2*ofB
	}
}

// model sets d to the releases minus their means, and each sum's a, b and M.
func (l *Likelihood) model(gamma []float64, s float64) {
	for _, x := range l.sums {
		for i, g := range gamma {
			x.a[i], x.b[i] = g-x.at[i], g-x.squareAt[i]
		}
		square := l.released[x.square] - l.n*x.kept*s*s
		for i := range gamma {
			mean := 0.0
			for j := range gamma {
				m := x.b[i]*x.b[j] + x.spread.At(i, j)
				if j <= i {
					x.m.SetSym(i, j, m)
				}
				mean += x.ofSlope.At(i, j) * x.a[j]
				square -= x.ofSquare.At(i, j) * m
			}
			l.d[x.first+i] = l.released[x.first+i] - mean
		}
		l.d[x.square] = square
	}
}

// noises is the covariance of d; of the noise alone where s is 0.
//
// Every entry of S on and above the diagonal has an error E of its own, of variance V, so
//
//	Cov(Ea, Eb) = diag(V(a∘b)) + V∘(baᵀ − diag(a∘b)),  Cov(Ea, <M, E>) = 2(V∘M)a − diag(V∘M)∘a,
//	Cov(<M, E>, <M', E>) = 2<M, V∘M'> − diag(M)·diag(V∘M')
func (l *Likelihood) noises(s float64) *mat.SymDense {
	p, variance := l.p, s*s
	out := mat.NewSymDense(l.size(), nil)
	for at, x := range l.sums {
		for _, y := range l.sums[:at+1] {
			squares := 0.0
			for i := range p {
				same := 0.0
				squares -= l.error(x, y, i, i) * x.m.At(i, i) * y.m.At(i, i)
				for j := range p {
					ofEntry := l.error(x, y, i, j)
					same += ofEntry * x.a[j] * y.a[j]
					squares += 2 * ofEntry * x.m.At(i, j) * y.m.At(i, j)
					out.SetSym(x.first+i, y.first+j, ofEntry*x.a[j]*y.a[i])
				}
				out.SetSym(x.first+i, y.first+i, same)
				out.SetSym(x.first+i, y.square, l.withSquare(x, y, i))
				out.SetSym(y.first+i, x.square, l.withSquare(y, x, i))
			}
			out.SetSym(x.square, y.square, squares)
		}
	}
	for i := range p + 1 {
		out.SetSym(i, i, out.At(i, i)+l.noise)
	}
	if l.steps {
		for i := range p {
			for j := range i + 1 {
				out.SetSym(p+1+i, p+1+j, out.At(p+1+i, p+1+j)+l.shape.At(i, j))
			}
		}
		out.SetSym(2*p+1, 2*p+1, out.At(2*p+1, 2*p+1)+l.squareVar)
	}
	if s == 0 {
		return out
	}
	l.setErrors()
	for i := range l.size() {
		for j := range i + 1 {
			out.SetSym(i, j, out.At(i, j)+variance*l.ofErrors.At(i, j))
		}
	}
	for at, x := range l.sums {
		for _, y := range l.sums[:at+1] {
			out.SetSym(x.square, y.square, out.At(x.square, y.square)+2*l.n*variance*variance)
		}
	}
	// n is added to the squares of a step if s is about that of the step
	out.SetSym(p, p, out.At(p, p)+l.nSD*l.nSD*variance*variance)
	return out
}

// withSquare is entry i of 2(V∘M)a − diag(V∘M)∘a, with a of x and M of y.
func (l *Likelihood) withSquare(x, y *sum, i int) float64 {
	sum := -l.error(x, y, i, i) * y.m.At(i, i) * x.a[i]
	for j, a := range x.a {
		sum += 2 * l.error(x, y, i, j) * y.m.At(i, j) * a
	}
	return sum
}

// setErrors sets ofErrors to HSHᵀ, with H the derivative of the released sums in h: 1, and
// 2b for a square.
func (l *Likelihood) setErrors() {
	p, half := l.p, make([]float64, l.p)
	for _, x := range l.sums {
		for i := range p {
			half[i] = 0
			for j := range p {
				half[i] += 2 * l.positive.At(i, j) * x.b[j]
			}
		}
		for _, y := range l.sums {
			square := 0.0
			for i := range p {
				square += 2 * half[i] * y.b[i]
				l.ofErrors.SetSym(y.first+i, x.square, half[i])
				for j := range i + 1 {
					l.ofErrors.SetSym(x.first+i, y.first+j, l.positive.At(i, j))
					l.ofErrors.SetSym(x.first+j, y.first+i, l.positive.At(i, j))
				}
			}
			l.ofErrors.SetSym(x.square, y.square, square)
		}
	}
}

// Solved is the γ that solves the normal equations of all releases, with the nearest design
// without small eigenvalues.
func (l *Likelihood) Solved() []float64 {
	last := l.sums[len(l.sums)-1]
	right, at := l.released[last.first:last.square], last.at
	var c mat.Cholesky
	solved := mat.NewVecDense(l.p, nil)
	if !c.Factorize(l.positive) || c.SolveVecTo(solved, mat.NewVecDense(l.p, right)) != nil {
		return slices.Clone(at)
	}
	out := make([]float64, l.p)
	for j := range out {
		out[j] = at[j] + solved.AtVec(j)
	}
	return out
}

// Positive is the nearest matrix to Σxxᵀ as released without small eigenvalues.
func (l *Likelihood) Positive() *mat.SymDense { return l.positive }
