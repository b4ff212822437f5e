package pairs

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// subsampled is the common part of the pairs of a sampled Gaussian: shift 1,
// noise standard deviation s, sampling rate q.
type subsampled struct{ s, q float64 }

// Loss is L(x) = log((1-q) + q e^{(2x-1)/(2s²)}), relatively precise near 0.
func (g subsampled) Loss(x float64) float64 { return lossOf(g.q, (2*x-1)/(2*g.s*g.s)) }

// Inverse is the x where loss(x) = l, -Inf at and below log(1-q).
func (g subsampled) Inverse(l float64) float64 { return g.s*g.s*ratioOf(g.q, l) + 0.5 }

// lossOf is log((1-q) + q e^y).
func lossOf(q, y float64) float64 {
	if y > 30 {
		return y + math.Log(q) + math.Log1p((1-q)/q*math.Exp(-y))
	}
	return math.Log1p(q * math.Expm1(y))
}

// ratioOf is the y with lossOf(q, y) = l, -Inf at and below log(1-q).
func ratioOf(q, l float64) float64 {
	if l > 30 {
		return l - math.Log(q) + math.Log1p(-(1-q)*math.Exp(-l))
	}
	z := math.Expm1(l) / q
	if z <= -1 {
		return math.Inf(-1)
	}
	return math.Log1p(z)
}

// apart is Pair.Apart: with little noise the losses of a step with the record are about
// 1/(2s²) above those of a step without it, and spread by 1/s.
func (g subsampled) apart() float64 {
	if g.s < 0.3 {
		return 1 / g.s
	}
	return 0
}

// mixtureTail implements sampled.
func (g subsampled) mixtureTail(x float64) float64 {
	return (1-g.q)*numeric.NormalTail(x/g.s) + g.q*numeric.NormalTail((x-1)/g.s)
}

// noise and most implement sampled.
func (g subsampled) noise() float64 { return g.s }

func (g subsampled) most() float64 { return 1 }

// remove is P = (1-q)N(0,s²) + qN(1,s²) against Q = N(0,s²).
func (g subsampled) remove() Piece {
	p := removePiece(g)
	p.ratio = &densityRatio{g, true, false}
	return p
}

// add is N(0,s²) against the mixture, in the mirrored coordinate.
func (g subsampled) add() Piece {
	p := addPiece(g)
	p.ratio = &densityRatio{g, false, true}
	return p
}

// substitutePiece is P = (1-q)N(0,s²) + qN(1,s²) against
// Q = (1-q)N(0,s²) + qN(-1,s²), which dominates every Poisson batch in which a
// record is replaced.
//
// Proof: Neighbours give (1-q)N(0)+qN(a) against (1-q)N(0)+qN(b) with |a|, |b| <= 1.
// For alpha >= 1 the hockey stick is H_alpha = q max_A [N_a(A) - c0 N_0(A) - c1 N_b(A)]
// with c0, c1 >= 0. Replace the best A by the half space A' in direction a with
// N_0(A') = N_0(A) = p. By Neyman-Pearson N_a(A) <= Phi(Phi⁻¹(p)+1) = N_u(A') and
// N_b(A) >= Phi(Phi⁻¹(p)-1) = N_-u(A') for a unit vector u, so (1, -1) is the largest.
// alpha < 1 follows by symmetry. One pair dominates at every alpha, so it composes.
func (g subsampled) substitutePiece() Piece {
	p := removePiece(g)
	p.ratio = &densityRatio{g, true, true}
	p.Lo = -1 - Reach*g.s
	logS := math.Log(g.s)
	p.Loss = func(x float64) float64 { return g.Loss(x) - g.Loss(-x) }
	p.LogDensity = func(x, _ float64) float64 {
		z := x / g.s
		return g.Loss(x) - 0.5*z*z - numeric.LogSqrt2Pi - logS
	}
	p.Inverse = func(l float64) float64 {
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
// add's below, and an atom between.
func (g subsampled) envelope() *Pair {
	up, down := g.remove(), g.add()
	up.Lo, down.Hi, down.Tail = 0.5, -0.5, nil
	return &Pair{
		Smooth: true, Apart: g.apart(), End: math.Inf(-1),
		Pieces: []Piece{down, up},
		Atoms:  []Atom{{0, (1 - g.q) * math.Erf(1/(2*math.Sqrt2*g.s))}},
	}
}
