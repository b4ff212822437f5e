package accountant

import "math"

// laplacePair is Laplace noise of scale b against the same shifted by 1. Left
// of both centres and right of both the loss is constant: two atoms; between,
// outcome x = 0 (far end) to 1 has loss (2x-1)/b.
func laplacePair(b float64) *pair {
	logTwoB := math.Log(2 * b)
	return &pair{
		end: math.Inf(-1),
		atoms: []atom{
			{1 / b, 0.5},
			{-1 / b, 0.5 * math.Exp(-1/b)},
		},
		pieces: []piece{{
			lo: math.Max(0, 1-100*b), hi: 1, width: math.Min(1, 2*b), // e^{-100} < 1e-43
			loss:       func(x float64) float64 { return (2*x - 1) / b },
			logDensity: func(x, _ float64) float64 { return -(1-x)/b - logTwoB },
			inverse:    func(l float64) float64 { return (l*b + 1) / 2 },
		}},
	}
}
