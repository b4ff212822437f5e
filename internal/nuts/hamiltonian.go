package nuts

import (
	"math"

	"d3p/internal/simd"
)

// Density sets gradient, length D, to the gradient of a log density at x, length
// D, and returns the log density up to a constant. The log density may be -Inf
// or NaN: the sampler never stays at such a point. An error ends the sampling.
type Density func(gradient, x []float64) (float64, error)

// point is a place in phase space. With the velocity Mp and the acceleration M∇ a leapfrog
// step takes one product with the metric M.
type point struct {
	x, momentum, gradient, velocity, acceleration []float64 // D

	all        []float64 // these five
	logDensity float64
}

func newPoint(size int) point {
	all := make([]float64, 5*size)
	part := func(i int) []float64 { return all[i*size : (i+1)*size : (i+1)*size] }
	return point{x: part(0), momentum: part(1), gradient: part(2), velocity: part(3), acceleration: part(4), all: all}
}

func (p *point) set(q *point) {
	copy(p.all, q.all)
	p.logDensity = q.logDensity
}

// hamiltonian is H(x, p) = -log density(x) + pᵀMp/2, where M is the metric, an
// estimate of the posterior's covariance.
type hamiltonian struct {
	density Density
	metric  metric
	// Evaluations counts calls of the density.
	evaluations int
	err         error
}

// evaluate sets the log density and the gradient at p.x.
func (h *hamiltonian) evaluate(p *point) {
	h.evaluations++
	value, err := h.density(p.gradient, p.x)
	if err != nil && h.err == nil {
		h.err = err
	}
	p.logDensity = value
}

// push draws the momentum of p.
func (h *hamiltonian) push(p *point, rng Rand) {
	h.metric.momentum(p.momentum, rng)
	h.metric.velocity(p.velocity, p.momentum)
	h.metric.velocity(p.acceleration, p.gradient)
}

// energy is H at p; +Inf if the log density is not a number.
func (h *hamiltonian) energy(p *point) float64 {
	e := simd.Dot(p.momentum, p.velocity)/2 - p.logDensity
	if math.IsNaN(e) {
		return math.Inf(1)
	}
	return e
}

// leapfrog moves p by one step of the given length, which is negative for a step
// back in time.
func (h *hamiltonian) leapfrog(p *point, step float64) {
	simd.Axpy(p.momentum, step/2, p.gradient)
	simd.Axpy(p.velocity, step/2, p.acceleration)
	simd.Axpy(p.x, step, p.velocity)
	h.evaluate(p)
	h.metric.velocity(p.acceleration, p.gradient)
	simd.Axpy(p.momentum, step/2, p.gradient)
	simd.Axpy(p.velocity, step/2, p.acceleration)
}

// logAddExp is log(exp(x) + exp(y)).
func logAddExp(x, y float64) float64 {
	if x < y {
		x, y = y, x
	}
	if math.IsInf(x, -1) {
		return x
	}
	return x + math.Log1p(math.Exp(y-x))
}
