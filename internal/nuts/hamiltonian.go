package nuts

import "math"

// Density sets gradient, length D, to the gradient of a log density at x, length
// D, and returns the log density up to a constant. The log density may be -Inf
// or NaN: the sampler never stays at such a point. An error ends the sampling.
type Density func(gradient, x []float64) (float64, error)

// point is a place in phase space.
type point struct {
	x, momentum, gradient []float64 // D
	logDensity            float64
}

func newPoint(size int) point {
	all := make([]float64, 3*size)
	return point{x: all[:size:size], momentum: all[size : 2*size : 2*size], gradient: all[2*size:]}
}

func (p *point) set(q *point) {
	copy(p.x, q.x)
	copy(p.momentum, q.momentum)
	copy(p.gradient, q.gradient)
	p.logDensity = q.logDensity
}

// hamiltonian is H(x, p) = -log density(x) + pᵀMp/2, where M is the metric, an
// estimate of the posterior's covariance.
type hamiltonian struct {
	density  Density
	metric   metric
	velocity []float64 // D, scratch
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

// energy is H at p; +Inf if the log density is not a number.
func (h *hamiltonian) energy(p *point) float64 {
	h.metric.velocity(h.velocity, p.momentum)
	e := dot(p.momentum, h.velocity)/2 - p.logDensity
	if math.IsNaN(e) {
		return math.Inf(1)
	}
	return e
}

// leapfrog moves p by one step of the given length, which is negative for a step
// back in time.
func (h *hamiltonian) leapfrog(p *point, step float64) {
	addScaled(p.momentum, step/2, p.gradient)
	h.metric.velocity(h.velocity, p.momentum)
	addScaled(p.x, step, h.velocity)
	h.evaluate(p)
	addScaled(p.momentum, step/2, p.gradient)
}

func dot(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// addScaled adds a·x to dst.
func addScaled(dst []float64, a float64, x []float64) {
	for i, v := range x {
		dst[i] += a * v
	}
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
