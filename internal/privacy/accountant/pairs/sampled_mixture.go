package pairs

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// sampled is a mixture of N(i, s²) over the shifts i = 0, 1, ..., most of a batch's
// sum, against N(0, s²).
type sampled interface {
	// loss is the log of the mixture's density over that of N(0, s²), which increases.
	Loss(x float64) float64
	// inverse is the x where loss(x) = l, -Inf if no x has that loss.
	Inverse(l float64) float64
	// mixtureTail is the mass of the mixture beyond x.
	mixtureTail(x float64) float64
	noise() float64 // s
	most() float64
}

// panel resolves the noise (scale s) and the bend of the loss (scale s²).
func panel(s float64) float64 { return math.Min(s, 2*s*s) }

// removePiece is P the mixture against Q = N(0,s²).
func removePiece(g sampled) Piece {
	s := g.noise()
	logS := math.Log(s)
	return Piece{
		Lo: -Reach * s, Hi: g.most() + Far*s, Width: panel(s),
		Loss: g.Loss,
		LogDensity: func(x, l float64) float64 {
			z := x / s
			return l - 0.5*z*z - numeric.LogSqrt2Pi - logS
		},
		Inverse: g.Inverse,
		Tail:    g.mixtureTail,
	}
}

// addPiece is the remove pair with P and Q exchanged, in the mirrored
// coordinate -x, along which its loss increases.
func addPiece(g sampled) Piece {
	s := g.noise()
	logS := math.Log(s)
	return Piece{
		Lo: -g.most() - Reach*s, Hi: Far * s, Width: panel(s),
		Loss: func(x float64) float64 { return -g.Loss(-x) },
		LogDensity: func(x, _ float64) float64 {
			z := x / s
			return -0.5*z*z - numeric.LogSqrt2Pi - logS
		},
		Inverse: func(l float64) float64 { return -g.Inverse(-l) },
		Tail:    func(x float64) float64 { return numeric.NormalTail(x / s) },
	}
}
