package pairs

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// ExactSlack is the relative error that closed forms and single-step
// quadratures are declared with; package bracket has the analysis.
const ExactSlack = 1e-11

// SingleDelta is δ(ε) = E[(1-e^{ε-L})+] of one use of the pair, by quadrature
// of a positive integrand from the point where the loss is ε: no
// cancellation, however small the answer.
func SingleDelta(p *Pair, epsilon float64) float64 {
	sum := 0.0
	for i := range p.Pieces {
		piece := p.Pieces[i]
		from := math.Max(piece.Lo, piece.Inverse(epsilon))
		panels := math.Ceil((piece.Hi - from) / piece.Width)
		width := (piece.Hi - from) / panels
		for k := 0.0; k < panels; k++ {
			part := 0.0
			for j, u := range numeric.Gauss16.X {
				x := from + (k+u)*width
				l := piece.Loss(x)
				part -= numeric.Gauss16.W[j] * math.Exp(piece.LogDensity(x, l)) * math.Expm1(math.Min(0, epsilon-l))
			}
			sum += part * width
			if part*width < 1e-17*sum && piece.Tail != nil && piece.Tail(from+k*width) < 1e-3 {
				break // beyond the bulk the integrand only falls
			}
		}
	}
	for _, a := range p.Atoms {
		if a.Loss > epsilon {
			sum -= a.Mass * math.Expm1(epsilon-a.Loss)
		}
	}
	return sum
}

// SingleEpsilon is the smallest ε >= 0 with singleDelta(p, ε) <= delta.
func SingleEpsilon(p *Pair, delta float64) float64 {
	if SingleDelta(p, 0) <= delta {
		return 0
	}
	// δ(ε) <= P(L > ε), so the loss at P-mass delta is an upper end.
	top := 0.0
	for _, piece := range p.Pieces {
		cut, _ := piece.Cut(delta / 2)
		top = math.Max(top, piece.Loss(cut.Hi))
	}
	for _, a := range p.Atoms {
		top = math.Max(top, a.Loss)
	}
	return numeric.Bisect(0, top, func(e float64) bool { return SingleDelta(p, e) <= delta })
}
