package marginals

import (
	"math"

	"d3p/internal/simd"
)

// Measurement is a noisy table of counts. Counts are the true ones plus normal noise of the
// given variance in every cell. Trust is the factor by which true counts deviate more than
// by chance from the family without this measurement: a cell of n·p records has the
// variance Trust·n·p.
type Measurement struct {
	Table
	Counts   []float64
	Variance float64
	Trust    float64
	Centre   []float64   // of shrinkage, by cell; nil: 0
	Trends   [][]float64 // directions without shrinkage, see Domain.Trends
}

// Fit sets the tree's parameters to the minimum of
//
//	n log Z(θ) - Σ_S θ_S·y_S + Σ_S σ²_S/(2 trust_S) |θ_S - centre_S|²,
//
// with leastWeight for trends. Without trends and centres that is
// the dual of: least n KL(p|uniform) + Σ_S trust_S/(2σ²_S) |y_S - n p_S|². It is the
// posterior mode of the table of n records given the noisy counts y, with its
// prior widened by trust. m has one measurement for each set of the tree, n is
// the number of records. The minimum is found by L-BFGS (Liu and Nocedal 1989)
// from the present parameters; Fit returns the number of iterations. Noise counts as
// finest of the records at least.
func (t *Tree) Fit(m []Measurement, n, tolerance float64, iterations int) int {
	size := len(t.theta)
	l := newLBFGS(size, memory)
	weight, target, scored := make([]float64, size), make([]float64, size), make([]bool, size)
	at, least := 0, math.Pow(finest*n, 2)
	for i := range m {
		for j, y := range m[i].Counts {
			scored[at+j] = m[i].Scores != nil
			weight[at+j], target[at+j] = max(max(m[i].Variance, least)/m[i].Trust, leastWeight), y
			if m[i].Centre != nil {
				target[at+j] += weight[at+j] * m[i].Centre[j]
			}
		}
		at += len(m[i].Counts)
	}
	gradient, next, step, last := make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	value := func(g []float64) float64 { return t.value(g, m, n, weight, target) }
	f := value(gradient)
	k := 0
	for ; k < iterations; k++ {
		for i, p := range t.means {
			curvature := n // of scores with mean square 1
			if !scored[i] {
				curvature = between(n*p, target[i])
			}
			l.inverse[i] = 1 / (curvature + weight[i])
		}
		l.direction(step, gradient)
		slope := simd.Dot(step, gradient)
		if -slope < tolerance*n { // twice the distance to the minimum, by Newton
			break
		}
		copy(last, t.theta)
		rate, better := 1.0, false
		for range trials {
			simd.Axpy(t.theta, rate, step)
			if g := value(next); g <= f+1e-4*rate*slope && !math.IsInf(g, 0) && !math.IsNaN(simd.Sum(next)) {
				f, better = g, true
				break
			}
			copy(t.theta, last)
			rate /= 3
		}
		switch {
		case better:
			simd.MulScalar(step, step, rate)
			l.keep(step, next, gradient)
			copy(gradient, next)
		case l.count > 0:
			l.count = 0 // once more without memory
		default:
			t.Infer()
			return k
		}
	}
	return k
}

// value is the function that Fit minimises, with its gradient in g.
func (t *Tree) value(g []float64, m []Measurement, n float64, weight, target []float64) float64 {
	f := n * t.Infer()
	for i, x := range t.theta {
		f += x * (weight[i]*x/2 - target[i])
		g[i] = n*t.means[i] - target[i] + weight[i]*x
	}
	at := 0
	for i := range m {
		for _, q := range m[i].Trends {
			w := weight[at] - leastWeight
			along := simd.Dot(q, t.theta[at:at+len(q)])
			f -= w * along * along / 2
			simd.Axpy(g[at:at+len(q)], -w*along, q)
		}
		at += len(m[i].Counts)
	}
	return f
}

// Estimate fits the tree to measurements of its first tables, reconciled, and to the slopes of
// the others.
func (t *Tree) Estimate(m []Measurement, iterations int, slopes ...Measurement) {
	n := Records(m)
	t.Fit(append(Reconcile(t.Domain, m, n), slopes...), n, tolerance, iterations)
}

// Start sets the parameters of single columns to the logarithms of their shares. Without
// other tables that is the fit.
func (t *Tree) Start(m []Measurement) {
	n := Records(m)
	for i, x := range m {
		if len(x.Set) == 1 {
			for c, y := range x.Counts {
				t.Theta[i][c] = math.Log(max(y, 1) / n)
			}
		}
	}
}

// leastWeight of a squared parameter keeps cells without records finite if the noise is
// small: their expected count is at most leastWeight times the parameter.
const leastWeight = 0.02

// finest is a standard deviation of noise in a cell, as a share of all records: that of 10⁶ records
// with noise of 10. With less the parameters of nearly empty cells grow until the fit fails: of
// 10⁷ records in ten columns (ε = 1) columns came out up to 95 % wrong.
const finest = 1e-5

// Iterations of the fits. Those between the rounds of Learn need not be exact.
const (
	roundIterations = 60
	lastIterations  = 250
	tolerance       = 1e-7
	memory          = 100 // last steps
	trials          = 12  // of ever shorter steps
)

// lbfgs holds the last steps and changes of gradient.
type lbfgs struct {
	steps, changes [][]float64
	rho, alpha     []float64
	inverse        []float64 // of the diagonal of the Hessian
	count          int
}

func newLBFGS(size, memory int) *lbfgs {
	l := &lbfgs{rho: make([]float64, memory), alpha: make([]float64, memory), inverse: make([]float64, size)}
	for range memory {
		l.steps, l.changes = append(l.steps, make([]float64, size)), append(l.changes, make([]float64, size))
	}
	return l
}

// direction sets d to minus the inverse Hessian times the gradient.
func (l *lbfgs) direction(d, gradient []float64) {
	for i, g := range gradient {
		d[i] = -g
	}
	size := len(l.steps)
	oldest := max(0, l.count-size)
	for k := l.count - 1; k >= oldest; k-- {
		i := k % size
		l.alpha[i] = l.rho[i] * simd.Dot(l.steps[i], d)
		simd.Axpy(d, -l.alpha[i], l.changes[i])
	}
	simd.Mul(d, d, l.inverse)
	if l.count > 0 {
		// The curvature along the last step relative to that of the diagonal. Tables with
		// common columns move each other, which the diagonal ignores.
		i := (l.count - 1) % size
		curvature := 0.0
		for j, y := range l.changes[i] {
			curvature += y * y * l.inverse[j]
		}
		simd.MulScalar(d, d, 1/(l.rho[i]*curvature))
	}
	for k := oldest; k < l.count; k++ {
		i := k % size
		beta := l.rho[i] * simd.Dot(l.changes[i], d)
		simd.Axpy(d, l.alpha[i]-beta, l.steps[i])
	}
}

func (l *lbfgs) keep(step, next, gradient []float64) {
	i := l.count % len(l.steps)
	simd.Sub(l.changes[i], next, gradient)
	copy(l.steps[i], step)
	curvature := simd.Dot(l.steps[i], l.changes[i])
	if curvature > 0 && !math.IsInf(1/curvature, 0) {
		l.rho[i] = 1 / curvature
		l.count++
	}
}

// between is the mean curvature of a cell's exponential between counts a and b: their
// logarithmic mean. With it a step of one cell is a step of proportional fitting.
func between(a, b float64) float64 {
	b = max(b, a/50, 1)
	if r := b / a; a > 0 && (r > 1.01 || r < 0.99) {
		return (b - a) / math.Log(r)
	}
	return b
}
