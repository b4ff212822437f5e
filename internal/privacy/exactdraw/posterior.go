// Package exactdraw draws from the posterior of a logistic regression with normal priors,
// exactly: by rejection, on a lattice.
//
// Letters: n records, d coefficients, φ the coefficients in units of their prior, which is
// N(0, I). a_i is the design of record i in these units times its outcome ±1, o_i what the
// prior's mean adds, w_i its weight:
//
//	p(φ) ∝ exp(−U(φ)),  U(φ) = |φ|²/2 + Σ w_i f(o_i + a_i·φ),  f(z) = log(1 + e^−z).
//
// Draw returns whole multiples of spacing. The place that belongs to a cube of the lattice
// comes with the probability that p gives the cube, times a factor within exp(±Slack), but
// for places of probability below 2^-170 together.
//
// # Why it is private
//
// Let w_i|a_i| ≤ s for the terms of a unit together. Then U of two tables that differ in this
// unit differ by a function with slopes of at most s, and an exact draw is s-Gaussian
// differentially private (Gopi, Lee and Liu 2022, arXiv:2203.00263, theorem 4.1). A proof: P
// and Q are the laws, L = log dP/dQ. P is more log-concave than N(0, I), so a map of slope at
// most 1 takes N(0, I) to P (Caffarelli 2000), and L is a function with slopes of at most s of
// normal numbers. By the Gaussian isoperimetric inequality L has the law of g(Z), Z normal, g
// increasing with slopes of at most s. Compare Y = s²/2 + sZ, the loss of a Gaussian: E e^−L =
// E e^−Y = 1, and g(z) − s²/2 − sz decreases in z, so changes its sign at most once. Then
// e^−L is less than e^−Y in the convex order (Karlin and Novikoff 1963), and δ(ε) =
// E(1 − e^(ε−L))₊ is the mean of a convex function of it.
//
// # Why it is exact
//
// The law of a proposal is known at every place of the lattice (proposal). A place is accepted
// with probability exp(−U − log q − most), which is at most 1 by the envelope. So the law of
// what is accepted is proportional to exp(−U), whatever proposal and envelope are: these
// depend on the records, and with them how long a draw takes. Slack has the errors of
// float64, and Gaussian their price.
package exactdraw

import (
	"encoding/binary"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Posterior is what is drawn from. Equal records are joined.
type Posterior struct {
	d       int
	rows    []float64 // a_i (n×d)
	offsets []float64 // o_i (n)
	weights []float64 // w_i (n)
	radius  float64   // no |φ| beyond it is drawn
	ridge   float64   // factor of |φ|²/2: 1 for a draw
	tilt    []float64 // b of an optimum (d): U has b·φ, too

	at map[string]int // of a joined record among the rows
}

// Longest is the greatest length of a record's a_i. Beside longer ones the curvature of other directions is
// lost in rounding.
const Longest = 1e5

// New is the posterior of at most records records of d coefficients, each of which adds to
// U a term with a slope of at most slope. shift is the length of the prior's mean in units
// of its standard deviations.
func New(d, records int, slope, shift float64) *Posterior {
	return &Posterior{d: d, radius: radius(d, records, slope, shift), ridge: 1, tilt: make([]float64, d), at: make(map[string]int)}
}

// Add adds a record: a (d), its offset and its weight.
func (p *Posterior) Add(a []float64, offset, weight float64) {
	key := make([]byte, 0, 8*(len(a)+1))
	for _, x := range a {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(x))
	}
	key = binary.LittleEndian.AppendUint64(key, math.Float64bits(offset))
	if i, ok := p.at[string(key)]; ok {
		p.weights[i] += weight
		return
	}
	p.at[string(key)] = len(p.weights)
	p.rows = append(p.rows, a...)
	p.offsets = append(p.offsets, offset)
	p.weights = append(p.weights, weight)
}

// row is a_i.
func (p *Posterior) row(i int) []float64 { return p.rows[i*p.d : (i+1)*p.d] }

// loss is f.
func loss(z float64) float64 {
	if z < 0 {
		return math.Log1p(math.Exp(z)) - z
	}
	return math.Log1p(math.Exp(-z))
}

// tail is -f′ of record i, 1/(1 + e^z).
func (p *Posterior) tail(i int, phi []float64) float64 {
	z := p.offsets[i]
	for j, x := range p.row(i) {
		z += x * phi[j]
	}
	return 1 / (1 + math.Exp(z))
}

// part of the records is added up between two looks at the limit.
const part = 64

// compensate adds x to a sum, with what the last addition lost (Kahan 1965).
func compensate(sum, lost *float64, x float64) {
	x -= *lost
	next := *sum + x
	*lost = (next - *sum) - x
	*sum = next
}

// Energy is U(phi), or a number above limit if U is: no term is negative. The terms are
// added up by compensate.
func (p *Posterior) Energy(phi []float64, limit float64) float64 {
	sum, lost := 0.0, 0.0
	add := func(x float64) { compensate(&sum, &lost, x) }
	for _, x := range phi {
		add(x * x / 2)
	}
	for low := 0; low < len(p.weights) && sum <= limit; low += part {
		for i := low; i < min(low+part, len(p.weights)); i++ {
			z := p.offsets[i]
			for j, x := range p.row(i) {
				z += x * phi[j]
			}
			add(p.weights[i] * loss(z))
		}
	}
	return sum
}

// slope sets gradient (d) and hessian to those of U at phi. The curvature is added up as the energy is:
// where some records are far longer than others, its small eigenvalues are left of large numbers.
func (p *Posterior) slope(gradient []float64, hessian *mat.SymDense, phi []float64) {
	for j, x := range phi {
		gradient[j] = p.ridge*x + p.tilt[j]
	}
	full, lost := make([]float64, p.d*p.d), make([]float64, p.d*p.d)
	for i, w := range p.weights {
		a, tail := p.row(i), p.tail(i, phi)
		v := w * tail * (1 - tail)
		for j, x := range a {
			gradient[j] -= w * tail * x
			for k := range j + 1 {
				at := j*p.d + k
				compensate(&full[at], &lost[at], v*x*a[k])
			}
		}
	}
	for j := range p.d {
		for k := range j {
			hessian.SetSym(j, k, full[j*p.d+k])
		}
		hessian.SetSym(j, j, full[j*p.d+j]+p.ridge)
	}
}

// newtonSteps end the search for the mode; where it ends decides how long a draw takes, not
// its law.
const newtonSteps = 200

// mode is nearly where U is least, with its gradient (d) and the root of its curvature there.
func (p *Posterior) mode() (phi, gradient []float64, root *mat.Cholesky) {
	phi, gradient, root = make([]float64, p.d), make([]float64, p.d), new(mat.Cholesky)
	hessian, step := mat.NewSymDense(p.d, nil), mat.NewVecDense(p.d, nil)
	next := make([]float64, p.d)
	for range newtonSteps {
		p.slope(gradient, hessian, phi)
		if !root.Factorize(hessian) {
			panic("exactdraw: the curvature of a strongly convex function has no root")
		}
		g := mat.NewVecDense(p.d, gradient)
		if err := root.SolveVecTo(step, g); err != nil {
			panic("exactdraw: " + err.Error())
		}
		decrement := mat.Dot(step, g)
		if decrement < 1e-18 {
			break
		}
		here := p.Energy(phi, math.Inf(1))
		for t := 1.0; t > 1e-6; t /= 2 {
			for j := range next {
				next[j] = phi[j] - t*step.AtVec(j)
			}
			if p.Energy(next, math.Inf(1)) <= here-t*decrement/4 || decrement < 1e-12 {
				break
			}
		}
		copy(phi, next)
	}
	p.slope(gradient, hessian, phi)
	if !root.Factorize(hessian) {
		panic("exactdraw: the curvature of a strongly convex function has no root")
	}
	return phi, gradient, root
}
