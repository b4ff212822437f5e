package models

import "d3p/internal/models/graph"

// PriorDensity evaluates the prior of a model on the unconstrained scale, Jacobians
// included.
type PriorDensity struct{ machine *graph.Machine }

// NewPriorDensity returns the prior of m, ready to evaluate.
func (m *Model) NewPriorDensity() *PriorDensity {
	return &PriorDensity{graph.NewMachine(m.Prior, 1)}
}

// LogDensity is log p(θ) at theta (P).
func (p *PriorDensity) LogDensity(theta []float64) float64 {
	p.machine.Globals(theta, nil)
	return p.machine.Loss()[0]
}

// Gradient sets dst (P) to ∂ log p(θ)/∂θ at theta (P).
func (p *PriorDensity) Gradient(dst, theta []float64) {
	p.machine.Globals(theta, nil)
	p.machine.GlobalGradient(dst)
}

// Density sets dst (P) to ∂ log p(θ)/∂θ at theta (P) and returns log p(θ).
func (p *PriorDensity) Density(dst, theta []float64) float64 {
	p.Gradient(dst, theta)
	return p.machine.Loss()[0]
}
