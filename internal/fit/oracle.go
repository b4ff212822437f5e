package fit

import "d3p/internal/privacy"

// Oracle answers the gradient query of one step. It sets dst (D) to the noisy sum of
// clipped gradients at params, and returns the noisy count Σ (1[|g| ≤ C] − γ), if the plan
// buys it.
type Oracle interface {
	Step(dst, params []float64, clipNorm float64) (count float64, err error)
}

// deviceOracle is an Oracle that can take many steps in one call.
type deviceOracle interface {
	Prepare(privacy.Postprocessing) error
	Steps(state, kept, inputs []float64, n int) (done int, err error)
}

// Prior is the part of the gradient that depends on no record. It sets dst (P) to ∂ log
// p(θ)/∂θ on the unconstrained scale, Jacobians included.
type Prior interface {
	Gradient(dst, theta []float64)
}

// curatorOracle asks a curator's session.
type curatorOracle struct{ session *privacy.Session }

// Step implements Oracle.
func (o curatorOracle) Step(dst, params []float64, clipNorm float64) (float64, error) {
	release, err := o.session.Step(dst, privacy.StepRequest{Params: params, ClipNorm: clipNorm})
	return release.Count, err
}

// Prepare implements deviceOracle.
func (o curatorOracle) Prepare(p privacy.Postprocessing) error { return o.session.Prepare(p) }

// Steps implements deviceOracle.
func (o curatorOracle) Steps(state, kept, inputs []float64, n int) (int, error) {
	return o.session.Steps(state, kept, inputs, n)
}
