package sufficient

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Density is a log density: it sets gradient and returns the value.
type Density func(gradient, x []float64) float64

// Mode is a mode of a density near start, by Newton steps with a Levenberg parameter, and
// the inverse of the information there, whose eigenvalues are bounded away from zero.
func Mode(density Density, start []float64) ([]float64, *mat.SymDense) {
	n := len(start)
	x, gradient := slices.Clone(start), make([]float64, n)
	value := density(gradient, x)
	damping := 1e-3
	for range 40 {
		information := informationAt(density, x)
		step, decrement := newton(information, gradient, damping)
		if decrement < 1e-8 {
			break
		}
		moved := false
		for range 12 {
			next, at := make([]float64, n), make([]float64, n)
			for j := range next {
				next[j] = x[j] + step[j]
			}
			if v := density(at, next); v > value {
				x, gradient, value, moved = next, at, v, true
				damping = max(damping/5, 1e-9)
				break
			}
			damping *= 5
			step, _ = newton(information, gradient, damping)
		}
		if !moved {
			break
		}
	}
	return x, inverted(informationAt(density, x))
}

// informationAt is minus the second derivatives, by differences of the gradient.
func informationAt(density Density, x []float64) *mat.SymDense {
	n := len(x)
	up, down, y := make([]float64, n), make([]float64, n), slices.Clone(x)
	all := mat.NewDense(n, n, nil)
	const h = 1e-4
	for j := range n {
		y[j] = x[j] + h
		density(up, y)
		y[j] = x[j] - h
		density(down, y)
		y[j] = x[j]
		for i := range n {
			all.Set(i, j, (down[i]-up[i])/(2*h))
		}
	}
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			if v := (all.At(i, j) + all.At(j, i)) / 2; v-v == 0 {
				out.SetSym(i, j, v)
			}
		}
	}
	return out
}

// spectrum calls use with each eigenvalue's size and eigenvector.
func spectrum(a *mat.SymDense, use func(value float64, vector mat.Vector)) {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return
	}
	var v mat.Dense
	e.VectorsTo(&v)
	for j, value := range e.Values(nil) {
		use(math.Abs(value), v.ColView(j))
	}
}

// newton is the Newton step and its predicted gain.
func newton(information *mat.SymDense, gradient []float64, damping float64) (step []float64, decrement float64) {
	n := len(gradient)
	step = make([]float64, n)
	g := mat.NewVecDense(n, gradient)
	spectrum(information, func(value float64, v mat.Vector) {
		along := mat.Dot(v, g)
		by := along / (value + damping*(1+value))
		decrement += by * along
		for j := range step {
			step[j] += by * v.AtVec(j)
		}
	})
	return step, decrement
}

// inverted is the inverse of a with its eigenvalues made positive.
func inverted(a *mat.SymDense) *mat.SymDense {
	out := mat.NewSymDense(a.SymmetricDim(), nil)
	spectrum(a, func(value float64, v mat.Vector) { out.SymRankOne(out, 1/max(value, 1e-6), v) })
	return out
}
