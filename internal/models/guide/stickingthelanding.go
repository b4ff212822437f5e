package guide

// Scorer is a family with a formula for its score.
type Scorer interface {
	Guide
	// Score sets dst (P) to ∂ log q(θ; λ)/∂θ at θ = f(lambda, eta).
	Score(dst, lambda, eta []float64)
}

// Landing is a family with another estimate of the ELBO's gradient,
//
//	Jᵀ(grad - ∂ log q/∂θ)  instead of  Jᵀ grad + ∇H,
//
// which has the same mean over η and, where q is the posterior, no variance at
// all ("sticking the landing"). Roeder, Wu and Duvenaud 2017, arXiv:1703.09194.
type Landing struct {
	Scorer
	total   []float64 // P
	zero    []float64 // P
	entropy []float64 // V
}

// NewLanding returns g with the other estimate, or g itself if it is no Scorer.
func NewLanding(g Guide) Guide {
	s, ok := g.(Scorer)
	if !ok {
		return g
	}
	if b, ok := g.(*Blocks); ok && !b.scored() {
		return g
	}
	return &Landing{Scorer: s, total: make([]float64, g.Latent()), zero: make([]float64, g.Latent()), entropy: make([]float64, g.Size())}
}

// Pullback implements Guide.
func (l *Landing) Pullback(dst, grad, lambda, eta []float64) {
	l.Score(l.total, lambda, eta)
	for j, g := range grad {
		l.total[j] = g - l.total[j]
	}
	l.Scorer.Pullback(dst, l.total, lambda, eta)
	l.Scorer.Pullback(l.entropy, l.zero, lambda, eta)
	for i, h := range l.entropy {
		dst[i] -= h
	}
}
