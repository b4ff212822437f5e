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
// Letters: P columns of the design, the first of which is 1.
package sufficient

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Moments are noisy second moments of the records.
type Moments struct {
	P int `json:"p"`
	// Values is the upper triangle of Σ(x, y)(x, y)ᵀ, row by row: (P+1)(P+2)/2 numbers.
	Values []float64 `json:"values"`
	// Noise is the standard deviation of each.
	Noise float64 `json:"noise"`
	// Records is n, RecordsSD the standard deviation of its noise.
	Records   float64 `json:"records"`
	RecordsSD float64 `json:"records_sd"`
}

// At is entry i, j of the moments; P is the place of the response.
func (m *Moments) At(i, j int) float64 {
	if i > j {
		i, j = j, i
	}
	return m.Values[i*(2*(m.P+1)-i-1)/2+j]
}

// Design is Σxxᵀ.
func (m *Moments) Design() *mat.SymDense {
	s := mat.NewSymDense(m.P, nil)
	for i := range m.P {
		for j := range i + 1 {
			s.SetSym(i, j, m.At(i, j))
		}
	}
	return s
}

// Step is a released gradient at γ = At: Slope is Σx(y − x·At), Square is Σ(y − x·At)².
type Step struct {
	At, Slope []float64 // (P)
	Square    float64
	// SlopeNoise is the factor of the covariance of Slope's noise, SquareNoise the
	// standard deviation of Square's.
	SlopeNoise, SquareNoise float64
}

// Likelihood is that of γ and s.
type Likelihood struct {
	p         int
	design    *mat.SymDense // S as released
	positive  *mat.SymDense // the nearest matrix without small eigenvalues
	noise     float64       // τ
	n, nSD    float64
	weak      float64   // 1 where S is weakly known, else 0
	with      []float64 // Σxy
	square    float64   // Σy²
	steps     bool
	slope     []float64 // the weighted mean of steps
	at        []float64 // its place
	shape     *mat.SymDense
	squares   float64
	squareAt  []float64
	spread    *mat.SymDense // of the places of squares
	squareVar float64

	d, u, ofE, ofH, left, right []float64
	place                       []int // of entry i, j of S among the p(p+1)/2 unknowns
}

// weakNoise is the noise of the moments, by record, above which S is weakly known. There
// the flat prior of S would make γ near the steps' places more probable, as with it small
// moments are improbable. The density then is without the determinant of the noise alone,
// so that γ is as uncertain as by the test of Anderson and Rubin (1949), whatever S is.
const weakNoise = 0.12

// NewLikelihood is the likelihood of the moments m and of steps, the noise of whose
// slopes has the covariance SlopeNoise²·shape.
func NewLikelihood(m *Moments, shape *mat.SymDense, steps []Step) *Likelihood {
	p := m.P
	l := &Likelihood{p: p, design: m.Design(), noise: m.Noise, n: m.Records, nSD: m.RecordsSD, square: m.At(p, p)}
	for i := range p {
		l.with = append(l.with, m.At(i, p))
	}
	if m.Noise > weakNoise*m.Records {
		l.weak = 1
	}
	l.positive = floored(l.design, m.Noise)
	l.place = make([]int, p*p)
	at := 0
	for i := range p {
		for j := i; j < p; j++ {
			l.place[i*p+j], l.place[j*p+i] = at, at
			at++
		}
	}
	size := l.size()
	if len(steps) > 0 {
		size = 2*p + 2
		l.average(shape, steps)
	}
	l.d, l.u = make([]float64, size), make([]float64, size)
	l.ofE, l.left = make([]float64, size*at), make([]float64, size*at)
	l.ofH, l.right = make([]float64, size*p), make([]float64, size*p)
	return l
}

// size is the number of released sums that the likelihood is of.
func (l *Likelihood) size() int {
	if l.steps {
		return 2*l.p + 2
	}
	return l.p + 1
}

// average makes one step of all, each weighted by the precision of its noise. What the
// differences between steps say of S is left out.
func (l *Likelihood) average(shape *mat.SymDense, steps []Step) {
	p := l.p
	l.steps, l.slope, l.at, l.squareAt = true, make([]float64, p), make([]float64, p), make([]float64, p)
	ofSlope, ofSquare := 0.0, 0.0
	for _, s := range steps {
		ofSlope += 1 / (s.SlopeNoise * s.SlopeNoise)
		ofSquare += 1 / (s.SquareNoise * s.SquareNoise)
	}
	l.spread = mat.NewSymDense(p, nil)
	for _, s := range steps {
		a, b := 1/(s.SlopeNoise*s.SlopeNoise*ofSlope), 1/(s.SquareNoise*s.SquareNoise*ofSquare)
		for j := range p {
			l.slope[j] += a * s.Slope[j]
			l.at[j] += a * s.At[j]
			l.squareAt[j] += b * s.At[j]
		}
		l.squares += b * s.Square
		l.spread.SymRankOne(l.spread, b, mat.NewVecDense(p, s.At))
	}
	l.spread.SymRankOne(l.spread, -1, mat.NewVecDense(p, l.squareAt))
	l.squareVar = 1 / ofSquare
	l.shape = mat.NewSymDense(p, nil)
	l.shape.ScaleSym(1/ofSlope, shape)
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

// Density is the log density of what was released, up to a constant, at γ (P) and
// s = exp(logS). It sets gradient (P+1) to the derivatives in γ and log s.
// A nil gradient is not set.
func (l *Likelihood) Density(gradient, gamma []float64, logS float64) float64 {
	p, size, unknowns := l.p, l.size(), l.p*(l.p+1)/2
	s := math.Exp(logS)
	variance := s * s
	l.model(gamma, s)
	covariance := l.noises(s)
	var c mat.Cholesky
	if !finite(covariance.RawSymmetric().Data) || !c.Factorize(covariance) {
		return math.Inf(-1)
	}
	u := mat.NewVecDense(size, l.u)
	if c.SolveVecTo(u, mat.NewVecDense(size, l.d)) != nil {
		return math.Inf(-1)
	}
	value := mat.Dot(u, mat.NewVecDense(size, l.d)) + c.LogDet()
	var bare mat.Cholesky
	if l.weak > 0 {
		if !bare.Factorize(l.noises(0)) {
			return math.Inf(-1)
		}
		value -= l.weak * bare.LogDet()
	}
	value /= -2
	if gradient == nil {
		return value
	}
	// W = uuᵀ − Σ⁻¹: the density changes by −u·∂d + <W, ∂Σ>/2
	w := mat.NewSymDense(size, nil)
	if c.InverseTo(w) != nil {
		return math.Inf(-1)
	}
	w.ScaleSym(-1, w)
	w.SymRankOne(w, 1, u)
	ofBare := w
	if l.weak > 0 {
		ofBare = mat.NewSymDense(size, nil)
		if bare.InverseTo(ofBare) != nil {
			return math.Inf(-1)
		}
		ofBare.ScaleSym(l.weak, ofBare)
		ofBare.AddSym(ofBare, w)
	}
	q, r, rs := mat.NewDense(size, unknowns, l.left), mat.NewDense(size, p, l.right), mat.NewDense(size, p, nil)
	q.Mul(ofBare, mat.NewDense(size, unknowns, l.ofE))
	rs.Mul(w, mat.NewDense(size, p, l.ofH))
	r.Mul(rs, l.positive)
	noise := l.noise * l.noise
	clear(gradient)
	for k := range p {
		g, towards, squared := 0.0, 0.0, 0.0
		for i := range p {
			x := l.design.At(i, k)
			g += l.u[i] * x
			towards += x * gamma[i]
			e := l.place[i*p+k]
			g += noise * (q.At(i, e) + 2*gamma[i]*q.At(p, e))
			if l.steps {
				b := gamma[i] - l.squareAt[i]
				g += l.u[p+1+i] * x
				squared += x * b
				g += noise * (q.At(p+1+i, e) + 2*b*q.At(2*p+1, e))
			}
		}
		g += 2*l.u[p]*towards + 2*variance*r.At(p, k)
		if l.steps {
			g += 2*l.u[2*p+1]*squared + 2*variance*r.At(2*p+1, k)
		}
		gradient[k] = g
	}
	// in log s
	g := l.u[p] * 2 * l.n * variance
	if l.steps {
		g += l.u[2*p+1] * 2 * l.n * variance
	}
	for i := range size {
		for j := range p {
			g += variance * r.At(i, j) * l.ofH[i*p+j]
		}
	}
	for _, i := range l.squareRows() {
		for _, j := range l.squareRows() {
			g += 4 * l.n * variance * variance * w.At(i, j)
		}
	}
	g += 2 * l.nSD * l.nSD * variance * variance * w.At(p, p)
	gradient[p] = g
	return value
}

// squareRows are the places of the sums of squares.
func (l *Likelihood) squareRows() []int {
	if l.steps {
		return []int{l.p, 2*l.p + 1}
	}
	return []int{l.p}
}

// model sets d to what was released less its mean, and ofE and ofH to its derivatives in
// the noise of S and in h.
func (l *Likelihood) model(gamma []float64, s float64) {
	p, unknowns := l.p, l.p*(l.p+1)/2
	variance := s * s
	clear(l.ofE)
	clear(l.ofH)
	quadratic, other := 0.0, 0.0
	for i := range p {
		sum, shifted := 0.0, 0.0
		for j := range p {
			x, e := l.design.At(i, j), l.place[i*p+j]
			sum += x * gamma[j]
			l.ofE[i*unknowns+e] = gamma[j]
			l.ofE[p*unknowns+e] += gamma[i] * gamma[j]
			if l.steps {
				m := (gamma[i]-l.squareAt[i])*(gamma[j]-l.squareAt[j]) + l.spread.At(i, j)
				shifted += x * (gamma[j] - l.at[j])
				other += x * m
				l.ofE[(p+1+i)*unknowns+e] = gamma[j] - l.at[j]
				l.ofE[(2*p+1)*unknowns+e] += m
			}
		}
		quadratic += gamma[i] * sum
		l.d[i] = l.with[i] - sum
		l.ofH[i*p+i] = 1
		l.ofH[p*p+i] = 2 * gamma[i]
		if l.steps {
			l.d[p+1+i] = l.slope[i] - shifted
			l.ofH[(p+1+i)*p+i] = 1
			l.ofH[(2*p+1)*p+i] = 2 * (gamma[i] - l.squareAt[i])
		}
	}
	l.d[p] = l.square - quadratic - l.n*variance
	if l.steps {
		l.d[2*p+1] = l.squares - other - l.n*variance
	}
}

// noises is the covariance of d.
func (l *Likelihood) noises(s float64) *mat.SymDense {
	p, size, unknowns := l.p, l.size(), l.p*(l.p+1)/2
	variance := s * s
	var half, ofH, ofE mat.Dense
	h, e := mat.NewDense(size, p, l.ofH), mat.NewDense(size, unknowns, l.ofE)
	half.Mul(h, l.positive)
	ofH.Mul(&half, h.T())
	ofE.Mul(e, e.T())
	noise := l.noise * l.noise
	out := mat.NewSymDense(size, nil)
	for i := range size {
		for j := range i + 1 {
			x := variance*ofH.At(i, j) + noise*ofE.At(i, j)
			if i == j && i <= p {
				x += noise
			}
			if l.steps && j > p && i <= 2*p {
				x += l.shape.At(i-p-1, j-p-1)
			}
			out.SetSym(i, j, x)
		}
	}
	if l.steps {
		out.SetSym(2*p+1, 2*p+1, out.At(2*p+1, 2*p+1)+l.squareVar)
	}
	ofSquares := 2 * l.n * variance * variance
	for _, i := range l.squareRows() {
		for _, j := range l.squareRows() {
			if j <= i {
				out.SetSym(i, j, out.At(i, j)+ofSquares)
			}
		}
	}
	// n is added to the squares of a step where s is about that of the step
	out.SetSym(p, p, out.At(p, p)+l.nSD*l.nSD*variance*variance)
	return out
}

func finite(x []float64) bool {
	for _, v := range x {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// Residual is the sum of squares that the regression of the moments leaves, by the nearest
// design without small eigenvalues; it may be negative.
func (m *Moments) Residual() float64 {
	s := floored(m.Design(), m.Noise*math.Sqrt(float64(m.P)))
	with, solved := mat.NewVecDense(m.P, nil), mat.NewVecDense(m.P, nil)
	for j := range m.P {
		with.SetVec(j, m.At(j, m.P))
	}
	var c mat.Cholesky
	if !c.Factorize(s) || c.SolveVecTo(solved, with) != nil {
		return m.At(m.P, m.P)
	}
	return m.At(m.P, m.P) - mat.Dot(with, solved)
}

// Solved is the γ that solves the normal equations of all that was released, with the
// nearest design without small eigenvalues.
func (l *Likelihood) Solved() []float64 {
	right, at := l.with, make([]float64, l.p)
	if l.steps {
		right, at = l.slope, l.at
	}
	var c mat.Cholesky
	solved := mat.NewVecDense(l.p, nil)
	if !c.Factorize(l.positive) || c.SolveVecTo(solved, mat.NewVecDense(l.p, right)) != nil {
		return append([]float64(nil), at...)
	}
	out := make([]float64, l.p)
	for j := range out {
		out[j] = at[j] + solved.AtVec(j)
	}
	return out
}

// Positive is the nearest matrix to Σxxᵀ as released without small eigenvalues.
func (l *Likelihood) Positive() *mat.SymDense { return l.positive }
