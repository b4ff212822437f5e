package guide

import "d3p/internal/models/graph"

// Tapes are the law of a custom guide. Their parameters are θ, then λ.
type Tapes struct {
	Density  *graph.Tape // its loss is log q
	Tails    *graph.Tape // its outputs are the tails of each parameter
	Weighted *graph.Tape // its loss is their weighted sum
	Start    []float64   // of λ (V)
	// Located (P) has the place in λ of the location of θⱼ, -1 for none. A starting point of
	// the fit is added there.
	Located []int
}

// tapeLaw is a family of distributions of θ (P numbers, independent of each other) with free
// parameters λ (V numbers), as tapes. Their noise is, parameter by parameter, the side of the
// tails, then their weights.
type tapeLaw struct {
	density, tails, weighted *graph.Machine

	sizes           []int     // of the model's parameters in θ
	point, gradient []float64 // θ and λ
	aux             []float64
}

func newTapeLaw(c *Tapes) *tapeLaw {
	latent, all := len(c.Located), len(c.Located)+len(c.Start)
	l := &tapeLaw{
		density: graph.NewMachine(c.Density, 1), tails: graph.NewMachine(c.Tails, 1), weighted: graph.NewMachine(c.Weighted, 1),
		point: make([]float64, all), gradient: make([]float64, all), aux: make([]float64, 2*latent),
	}
	for i := 0; latent > 0; i++ {
		size := c.Tails.Params[i].Shape.Size()
		l.sizes = append(l.sizes, size)
		latent -= size
	}
	return l
}

// logTails sets dst (P) to log P(Θⱼ <= θⱼ), or to log P(Θⱼ > θⱼ) where upper (P) is 1.
func (l *tapeLaw) logTails(dst, theta, lambda, upper []float64) {
	l.evaluate(l.tails, theta, lambda, upper, nil)
	for i := range l.sizes {
		dst = dst[copy(dst, l.tails.Output(i)):]
	}
}

// tailsGradient sets dTheta (P) and dLambda (V) to the gradient of Σ weightⱼ·tailⱼ, weight (P).
func (l *tapeLaw) tailsGradient(dTheta, dLambda, theta, lambda, upper, weight []float64) {
	l.evaluate(l.weighted, theta, lambda, upper, weight)
	l.gradientOf(l.weighted, dTheta, dLambda)
}

// densityGradient sets dTheta (P) and dLambda (V) to the gradient of log q(θ; λ).
func (l *tapeLaw) densityGradient(dTheta, dLambda, theta, lambda []float64) {
	l.evaluate(l.density, theta, lambda, nil, nil)
	l.gradientOf(l.density, dTheta, dLambda)
}

// evaluate runs a tape. upper and weight may be nil if the tape does not use them.
func (l *tapeLaw) evaluate(m *graph.Machine, theta, lambda, upper, weight []float64) {
	copy(l.point[copy(l.point, theta):], lambda)
	aux := l.aux
	for _, size := range l.sizes {
		upper = upper[copy(aux[:size], upper):]
		weight = weight[copy(aux[size:2*size], weight):]
		aux = aux[2*size:]
	}
	m.Globals(l.point, l.aux)
}

// gradientOf sets dTheta and dLambda to the gradient of a tape's loss.
func (l *tapeLaw) gradientOf(m *graph.Machine, dTheta, dLambda []float64) {
	m.GlobalGradient(l.gradient)
	copy(dLambda, l.gradient[copy(dTheta, l.gradient):])
}
