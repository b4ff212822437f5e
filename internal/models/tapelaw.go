package models

import "d3p/internal/models/graph"

// tapeLaw is the law of a custom guide as tapes. Their noise is, parameter by
// parameter, which side of the tails is meant, then their weights.
type tapeLaw struct {
	density, tails, weighted *graph.Machine

	sizes           []int     // of the model's parameters in θ
	point, gradient []float64 // θ and λ
	aux             []float64
}

func newTapeLaw(c *customGuide) *tapeLaw {
	latent, all := len(c.located), len(c.located)+len(c.start)
	l := &tapeLaw{
		density: graph.NewMachine(c.density, 1), tails: graph.NewMachine(c.tails, 1), weighted: graph.NewMachine(c.weighted, 1),
		point: make([]float64, all), gradient: make([]float64, all), aux: make([]float64, 2*latent),
	}
	for i := 0; latent > 0; i++ {
		size := c.tails.Params[i].Shape.Size()
		l.sizes = append(l.sizes, size)
		latent -= size
	}
	return l
}

// Tails implements guide.Law.
func (l *tapeLaw) Tails(dst, theta, lambda, upper []float64) {
	l.evaluate(l.tails, theta, lambda, upper, nil)
	for i := range l.sizes {
		dst = dst[copy(dst, l.tails.Output(i)):]
	}
}

// TailsGradient implements guide.Law.
func (l *tapeLaw) TailsGradient(dTheta, dLambda, theta, lambda, upper, weight []float64) {
	l.evaluate(l.weighted, theta, lambda, upper, weight)
	l.gradientOf(l.weighted, dTheta, dLambda)
}

// DensityGradient implements guide.Law.
func (l *tapeLaw) DensityGradient(dTheta, dLambda, theta, lambda []float64) {
	l.evaluate(l.density, theta, lambda, nil, nil)
	l.gradientOf(l.density, dTheta, dLambda)
}

// evaluate runs a tape; upper and weight may be left out where it has no use
// for them.
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
