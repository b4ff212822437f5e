package accountant

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// ballsPair is one epoch of balls-and-bins sampling with m batches: the
// likelihood ratio of the two neighbours is the mean of m independent
// W = exp((2x-1)/(2s²)), x ~ N(0, s²) (Chua et al. 2024, arXiv:2412.16802).
// The sum of the W is computed on a linear grid, where hockey sticks are
// monotone in the convex order: spreading W over grid points, mean kept, gives
// an upper bound, merging gives the lower bound in the field lower.
//
// theta is the tilt at which the epochs will be composed; the grid is most
// accurate there. P-mass up to tail may go to infinite loss.
func ballsPair(s float64, m int, add bool, theta, tail float64) *pair {
	e := epoch{s: s, m: float64(m)}
	e.cut = bisect(0, 1+far*s, func(x float64) bool { return e.excluded(x) <= tail/3 })
	variance := math.Expm1(1 / (s * s))
	e.g = math.Max(math.Sqrt(6*ballsSpread*variance), e.weight(e.cut)/maxBallsCells)
	spread, merged := e.single()
	if add {
		// a smaller W means a larger loss: the cut mass goes to the last point
		spread[len(spread)-2] += normalTail(e.cut / s)
	}
	e.chooseTilt(spread, add, theta)
	up := e.sum(spread, add, tail/3)
	up.infinity = tail / 3 // beyond the window
	// what is left out on the other side of the window is raised to its edge
	if rest := up.missing - up.infinity; rest > 0 && len(up.atoms) > 0 {
		edge := 0
		if add {
			edge = len(up.atoms) - 1
		}
		up.atoms[edge].mass += rest
		up.missing = up.infinity
	}
	up.missing -= up.infinity
	if !add {
		up.infinity += e.excluded(e.cut)
		up.missing -= e.excluded(e.cut)
	}
	up.lower = e.sum(merged, add, tail/3)
	return up
}

// reliable reports whether the error of the masses is negligible under the
// tilt theta: elsewhere (very little noise, or very small delta) a linear tilt
// of the sum is no stand-in for a tilt of its logarithm.
func (p *pair) reliable(theta float64) bool {
	if len(p.atoms) == 0 {
		return false
	}
	logZ := math.Inf(-1)
	for _, a := range p.atoms {
		logZ = logAddExp(logZ, theta*a.loss+math.Log(a.mass))
	}
	logNoise := p.noise(theta, 0) + 0.5*math.Log(float64(len(p.atoms))) // of the 1-norm
	return math.Abs(p.missing) < 1e-3 && logNoise-logZ < math.Log(ballsNoise)
}

const (
	// ballsNoise bounds the error of a tilted mass relative to the largest one.
	ballsNoise    = 1e-6
	ballsSpread   = 2e-5 // wanted relative inflation of the variance of W
	maxBallsCells = 1 << 17
)

// sum is the epoch's loss: the m-fold sum of the single law, by an FFT of the
// tilted law on a window beyond which P has at most tail.
func (e *epoch) sum(single []float64, add bool, tail float64) *pair {
	k, _ := e.logMoments(single, e.tilt)
	lo, hi := e.window(single, k, add, tail)
	n := minPoints
	for float64(n-2)*e.g < hi-lo && n <= maxPoints {
		n *= 2
	}
	if n > maxPoints || math.IsNaN(hi-lo) { // too wide for a grid: not reliable
		return &pair{missing: 1}
	}
	first := int(math.Floor(lo / e.g))
	seq := make([]float64, n)
	for i, q := range single {
		seq[mod(i, n)] += q * math.Exp(e.tilt*e.g*float64(i)-k/e.m)
	}
	fft := fourier.NewFFT(n)
	coeff := fft.Coefficients(nil, seq)
	for j, z := range coeff {
		re, im := real(z), imag(z)
		sn, cs := math.Sincos(e.m * math.Atan2(im, re))
		a := math.Exp(e.m * 0.5 * math.Log(re*re+im*im))
		coeff[j] = complex(a*cs, a*sn)
	}
	c := fft.Sequence(seq, coeff)
	square := 0.0
	for j := range c {
		c[j] /= float64(n)
		square += c[j] * c[j]
	}
	p := &pair{end: math.Inf(-1)}
	total := 0.0
	// atoms without computed mass count in the noise too
	var logWeights, losses []float64 // an atom's mass is the tilted mass times its weight
	for j := range n {
		s := float64(first+j) * e.g
		if s <= 0 {
			continue
		}
		loss, logWeight := math.Log(s/e.m), k-e.tilt*s
		if add {
			loss = -loss
		} else {
			logWeight += loss
		}
		mass := math.Max(0, c[mod(first+j, n)]) * math.Exp(logWeight)
		logWeights, losses = append(logWeights, logWeight), append(losses, loss)
		if mass > 0 {
			total += mass
			p.atoms = append(p.atoms, atom{loss, mass})
		}
	}
	p.missing = 1 - total
	logNoise := math.Log(16*unit*math.Log2(float64(n))*(1+e.m)*math.Sqrt(square) + math.Exp(ballsLogEta))
	p.noise = func(theta, h float64) float64 {
		worst := math.Inf(-1)
		for i, loss := range losses {
			worst = math.Max(worst, theta*loss+logWeights[i])
		}
		perBin := 2 * (2 + h*hi/e.g) // atoms that meet in one grid point
		return logNoise + worst + 0.5*math.Log(perBin)
	}
	return p
}

// chooseTilt makes the tilted law of the sum follow the tilt theta of the loss,
// a logarithm of the sum, as closely as a linear tilt can: it minimises the
// factor by which the FFT's error grows when one becomes the other.
func (e *epoch) chooseTilt(single []float64, add bool, theta float64) {
	if add {
		e.tilt = -0.7 * theta / e.m // between the ends of the window, where the error would grow
		return
	}
	best := math.Inf(1)
	for f := 1.0; f > 1e-4; f *= 0.8 {
		tilt := f * (1 + theta) / e.m
		k, _ := e.logMoments(single, tilt)
		// K + max over S of (1+θ) log(S/m) - tilt S
		if v := k + (1+theta)*(-math.Log(f)-1); v < best {
			best, e.tilt = v, tilt
		}
	}
}

// ballsLogEta is log of the tilted mass that may be outside the window.
const ballsLogEta = -39
