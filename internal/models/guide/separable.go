package guide

// Separable is a family with independent coordinates. Its methods compute coordinates low
// <= j < high of θ from their entries of λ and η alone. The arguments are whole arrays.
type Separable interface {
	Guide
	// DrawRange is Draw for some coordinates.
	DrawRange(theta, lambda, eta []float64, low, high int)
	// PullbackRange is Pullback for some coordinates.
	PullbackRange(dst, grad, lambda, eta []float64, low, high int)
	// PrecisionRange is Precision for some coordinates.
	PrecisionRange(dst, lambda []float64, low, high int)
}
