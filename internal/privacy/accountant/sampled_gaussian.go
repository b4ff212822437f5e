package accountant

import "math"

// subsampled is the common part of the pairs of a sampled Gaussian: shift 1,
// noise standard deviation s, sampling rate q.
type subsampled struct{ s, q float64 }

// loss is L(x) = log((1-q) + q e^{(2x-1)/(2s²)}), relatively precise near 0.
func (g subsampled) loss(x float64) float64 {
	y := (2*x - 1) / (2 * g.s * g.s)
	if y > 30 {
		return y + math.Log(g.q) + math.Log1p((1-g.q)/g.q*math.Exp(-y))
	}
	return math.Log1p(g.q * math.Expm1(y))
}

// inverse is the x where loss(x) = l, -Inf at and below log(1-q).
func (g subsampled) inverse(l float64) float64 {
	if l > 30 {
		return g.s*g.s*(l-math.Log(g.q)+math.Log1p(-(1-g.q)*math.Exp(-l))) + 0.5
	}
	z := math.Expm1(l) / g.q
	if z <= -1 {
		return math.Inf(-1)
	}
	return g.s*g.s*math.Log1p(z) + 0.5
}

// apart is pair.apart: with little noise the losses of a step that has the record
// lie about 1/(2s²) above those of one that has not, and spread by 1/s.
func (g subsampled) apart() float64 {
	if g.s < 0.3 {
		return 1 / g.s
	}
	return 0
}

// mixtureTail is the mass of (1-q)N(0,s²) + qN(1,s²) beyond x.
func (g subsampled) mixtureTail(x float64) float64 {
	return (1-g.q)*normalTail(x/g.s) + g.q*normalTail((x-1)/g.s)
}

// panel resolves the noise (scale s) and the bend of the loss (scale s²).
func (g subsampled) panel() float64 { return math.Min(g.s, 2*g.s*g.s) }

// removePiece is P = (1-q)N(0,s²) + qN(1,s²) against Q = N(0,s²).
func (g subsampled) removePiece() piece {
	logS := math.Log(g.s)
	return piece{
		lo: -reach * g.s, hi: 1 + far*g.s, width: g.panel(),
		loss: g.loss,
		logDensity: func(x, l float64) float64 {
			z := x / g.s
			return l - 0.5*z*z - logSqrt2Pi - logS
		},
		inverse: g.inverse,
		tail:    g.mixtureTail,
	}
}

// addPiece is the remove pair with P and Q exchanged, in the mirrored
// coordinate -x, along which its loss increases.
func (g subsampled) addPiece() piece {
	logS := math.Log(g.s)
	return piece{
		lo: -1 - reach*g.s, hi: far * g.s, width: g.panel(),
		loss: func(x float64) float64 { return -g.loss(-x) },
		logDensity: func(x, _ float64) float64 {
			z := x / g.s
			return -0.5*z*z - logSqrt2Pi - logS
		},
		inverse: func(l float64) float64 { return -g.inverse(-l) },
		tail:    func(x float64) float64 { return normalTail(x / g.s) },
	}
}

// substitutePiece is P = (1-q)N(0,s²) + qN(1,s²) against
// Q = (1-q)N(0,s²) + qN(-1,s²).
func (g subsampled) substitutePiece() piece {
	p := g.removePiece()
	p.lo = -1 - reach*g.s
	logS := math.Log(g.s)
	p.loss = func(x float64) float64 { return g.loss(x) - g.loss(-x) }
	p.logDensity = func(x, _ float64) float64 {
		z := x / g.s
		return g.loss(x) - 0.5*z*z - logSqrt2Pi - logS
	}
	p.inverse = func(l float64) float64 {
		// x = s² (l/2 + asinh(sinh(l/2) (1-q)/q e^{1/(2s²)})), in logs when large
		a := math.Abs(l) / 2
		scale := math.Log((1-g.q)/g.q) + 1/(2*g.s*g.s)
		logArg := scale + logSinh(a)
		var inv float64
		if logArg > 18 {
			inv = logArg + math.Ln2
		} else {
			inv = math.Asinh(math.Exp(logArg))
		}
		return math.Copysign(g.s*g.s*(a+inv), l)
	}
	return p
}

// logSinh is log sinh(a) for a >= 0.
func logSinh(a float64) float64 {
	if a < 18 {
		return math.Log(math.Sinh(a))
	}
	return a - math.Ln2
}

// envelope has the privacy profile max(remove, add): remove's losses above 0,
// add's below, and an atom between (docs/accounting.md).
func (g subsampled) envelope() *pair {
	up, down := g.removePiece(), g.addPiece()
	up.lo, down.hi, down.tail = 0.5, -0.5, nil
	return &pair{
		smooth: true, apart: g.apart(), end: math.Inf(-1),
		pieces: []piece{down, up},
		atoms:  []atom{{0, (1 - g.q) * math.Erf(1/(2*math.Sqrt2*g.s))}},
	}
}
