package accountant

import "math"

// sampled is a mixture of N(i, s²) over the shifts i = 0, 1, ..., most of a batch's
// sum, against N(0, s²).
type sampled interface {
	// loss is the log of the mixture's density over that of N(0, s²), which increases.
	loss(x float64) float64
	// inverse is the x where loss(x) = l, -Inf if no x has that loss.
	inverse(l float64) float64
	// mixtureTail is the mass of the mixture beyond x.
	mixtureTail(x float64) float64
	noise() float64 // s
	most() float64
}

// panel resolves the noise (scale s) and the bend of the loss (scale s²).
func panel(s float64) float64 { return math.Min(s, 2*s*s) }

// removePiece is P the mixture against Q = N(0,s²).
func removePiece(g sampled) piece {
	s := g.noise()
	logS := math.Log(s)
	return piece{
		lo: -reach * s, hi: g.most() + far*s, width: panel(s),
		loss: g.loss,
		logDensity: func(x, l float64) float64 {
			z := x / s
			return l - 0.5*z*z - logSqrt2Pi - logS
		},
		inverse: g.inverse,
		tail:    g.mixtureTail,
	}
}

// addPiece is the remove pair with P and Q exchanged, in the mirrored
// coordinate -x, along which its loss increases.
func addPiece(g sampled) piece {
	s := g.noise()
	logS := math.Log(s)
	return piece{
		lo: -g.most() - reach*s, hi: far * s, width: panel(s),
		loss: func(x float64) float64 { return -g.loss(-x) },
		logDensity: func(x, _ float64) float64 {
			z := x / s
			return -0.5*z*z - logSqrt2Pi - logS
		},
		inverse: func(l float64) float64 { return -g.inverse(-l) },
		tail:    func(x float64) float64 { return normalTail(x / s) },
	}
}
