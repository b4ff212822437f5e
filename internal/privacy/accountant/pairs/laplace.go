package pairs

import "math"

// NewLaplace is Laplace noise of scale b against the same shifted by 1. Left
// of both centres and right of both the loss is constant: two atoms; between,
// outcome x = 0 (far end) to 1 has loss (2x-1)/b.
func NewLaplace(b float64) *Pair {
	logTwoB := math.Log(2 * b)
	return &Pair{
		End: math.Inf(-1),
		Atoms: []Atom{
			{1 / b, 0.5},
			{-1 / b, 0.5 * math.Exp(-1/b)},
		},
		Pieces: []Piece{{
			Lo: math.Max(0, 1-100*b), Hi: 1, Width: math.Min(1, 2*b), // e^{-100} < 1e-43
			Loss:       func(x float64) float64 { return (2*x - 1) / b },
			LogDensity: func(x, _ float64) float64 { return -(1-x)/b - logTwoB },
			Inverse:    func(l float64) float64 { return (l*b + 1) / 2 },
		}},
	}
}
