package accountant

import "math"

// exactSlack is the relative error that closed forms and single-step
// quadratures are declared with; docs/design/accounting.md has the analysis.
const exactSlack = 1e-11

// singleDelta is δ(ε) = E[(1-e^{ε-L})+] of one use of the pair, by quadrature
// of a positive integrand from the point where the loss is ε: no
// cancellation, however small the answer.
func singleDelta(p *pair, epsilon float64) float64 {
	sum := 0.0
	for i := range p.pieces {
		piece := p.pieces[i]
		from := math.Max(piece.lo, piece.inverse(epsilon))
		panels := math.Ceil((piece.hi - from) / piece.width)
		width := (piece.hi - from) / panels
		for k := 0.0; k < panels; k++ {
			part := 0.0
			for j, u := range gauss16.x {
				x := from + (k+u)*width
				l := piece.loss(x)
				part -= gauss16.w[j] * math.Exp(piece.logDensity(x, l)) * math.Expm1(math.Min(0, epsilon-l))
			}
			sum += part * width
			if part*width < 1e-17*sum && piece.tail != nil && piece.tail(from+k*width) < 1e-3 {
				break // beyond the bulk the integrand only falls
			}
		}
	}
	for _, a := range p.atoms {
		if a.loss > epsilon {
			sum -= a.mass * math.Expm1(epsilon-a.loss)
		}
	}
	return sum
}

// singleEpsilon is the smallest ε >= 0 with singleDelta(p, ε) <= delta.
func singleEpsilon(p *pair, delta float64) float64 {
	if singleDelta(p, 0) <= delta {
		return 0
	}
	// δ(ε) <= P(L > ε), so the loss at P-mass delta is an upper end.
	top := 0.0
	for _, piece := range p.pieces {
		cut, _ := piece.cut(delta / 2)
		top = math.Max(top, piece.loss(cut.hi))
	}
	for _, a := range p.atoms {
		top = math.Max(top, a.loss)
	}
	return bisect(0, top, func(e float64) bool { return singleDelta(p, e) <= delta })
}
