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
	e := epoch{s: s, m: float64(m), tilt: (1 + theta) / float64(m)}
	if add {
		e.tilt = -theta / float64(m)
	}
	e.cut = bisect(0, 1+far*s, func(x float64) bool { return e.excluded(x) <= tail/3 })
	variance := math.Expm1(1 / (s * s))
	e.g = math.Max(math.Sqrt(6*ballsSpread*variance), e.weight(e.cut)/maxBallsCells)
	spread, merged := e.single()
	if add {
		// a smaller W means a larger loss: the cut mass goes to the last point
		spread[len(spread)-2] += normalTail(e.cut / s)
	}
	up := e.sum(spread, add, tail/3, +1)
	if !add {
		up.infinity += e.excluded(e.cut)
		up.missing -= e.excluded(e.cut)
	}
	up.lower = e.sum(merged, add, tail/3, -1)
	return up
}

const (
	ballsSpread   = 2e-5 // wanted relative inflation of the variance of W
	maxBallsCells = 1 << 20
)

// epoch holds the grid of one epoch: values of W and of the sum are multiples of g.
type epoch struct {
	s, m float64
	g    float64
	cut  float64 // outcomes x above are left out
	tilt float64 // of the sum, per unit of W
}

func (e *epoch) weight(x float64) float64 { return math.Exp((2*x - 1) / (2 * e.s * e.s)) }

// excluded is the P-mass of epochs with some outcome above x.
func (e *epoch) excluded(x float64) float64 {
	return normalTail((x-1)/e.s) + (e.m-1)*normalTail(x/e.s)
}

// single is the law of one W on the grid, spread over neighbouring points and
// merged into points. Both keep the mean of what is below the cut.
func (e *epoch) single() (spread, merged []float64) {
	n := int(math.Ceil(e.weight(e.cut)/e.g)) + 1
	mass, right := make([]float64, n), make([]float64, n)
	p := piece{
		width:      math.Min(e.s, 2*e.s*e.s),
		loss:       e.weight,
		logDensity: func(x, _ float64) float64 { z := x / e.s; return -0.5*z*z - logSqrt2Pi - math.Log(e.s) },
	}
	x := -reach * e.s
	for i := range n {
		edge := math.Min(e.cut, e.s*e.s*math.Log(float64(i+1)*e.g)+0.5)
		base := float64(i) * e.g
		p.integrate(x, edge, func(w, q float64) {
			mass[i] += q
			right[i] += q * (w - base) / e.g
		})
		right[i] = math.Min(mass[i], right[i])
		x = math.Max(x, edge)
	}
	spread, merged = make([]float64, n+1), make([]float64, n+1)
	for i := range n {
		spread[i] += mass[i] - right[i]
		spread[i+1] += right[i]
	}
	mergeLinear(merged, mass, right)
	return spread, merged
}

// mergeLinear merges cells of width 1, mass[i] with mean i + right[i]/mass[i],
// into groups whose mean is a grid point, splitting cells at random. What is
// left over at the end is dropped, which only lowers the result.
func mergeLinear(out, mass, right []float64) {
	for at, share := 0, 1.0; at < len(mass); {
		waiting := share * mass[at]
		lack := share * (mass[at] - right[at]) // distance to grid point at+1, times mass
		if lack <= 0 {
			out[at+1] += waiting
			at, share = at+1, 1
			continue
		}
		g, i := at+1, at+1
		for ; i < len(mass); i++ {
			extra := float64(i-g)*mass[i] + right[i]
			if extra >= lack {
				b := lack / extra
				out[g] += waiting + b*mass[i]
				at, share = i, 1-b
				break
			}
			lack -= extra
			waiting += mass[i]
		}
		if i == len(mass) {
			return
		}
	}
}

// sum is the epoch's loss: the m-fold sum of the single law, by an FFT of the
// tilted law on a window outside of which P has at most 2 tail. sign +1 rounds
// every mass up by the error of the FFT, -1 down.
func (e *epoch) sum(single []float64, add bool, tail, sign float64) *pair {
	k, _ := e.logMoments(single, e.tilt)
	lo, hi := e.window(single, k, add, tail)
	n := minPoints
	for float64(n-2)*e.g < hi-lo {
		n *= 2
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
	noise := 16*unit*math.Log2(float64(n))*(1+e.m)*math.Sqrt(square) + math.Exp(ballsLogEta)
	p := &pair{end: math.Inf(-1)}
	total := 0.0
	for j := range n {
		s := float64(first+j) * e.g
		mass := math.Max(0, c[mod(first+j, n)]+sign*noise) * math.Exp(k-e.tilt*s)
		loss := math.Log(s / e.m)
		if add {
			loss = -loss
		} else {
			mass *= s / e.m
		}
		if s > 0 && mass > 0 {
			p.atoms = append(p.atoms, atom{loss, mass})
			total += mass
		}
	}
	if sign > 0 {
		p.infinity = 2 * tail
	}
	p.missing = 1 - total - p.infinity
	return p
}

// ballsLogEta is log of the tilted mass that may be outside the window.
const ballsLogEta = -39

// logMoments is log E[e^{tilt ΣW}] under Q and under P.
func (e *epoch) logMoments(single []float64, tilt float64) (underQ, underP float64) {
	top := math.Max(0, tilt*e.g*float64(len(single)))
	var v, biased float64
	for i, q := range single {
		w := e.g * float64(i)
		t := q * math.Exp(tilt*w-top)
		v += t
		biased += t * w
	}
	underQ = e.m * (top + math.Log(v))
	return underQ, underQ + math.Log(biased/v)
}

// window is where the sum has all but e^ballsLogEta of its tilted mass and, on
// either side, all but tail of its P-mass, by Chernoff's bound.
func (e *epoch) window(single []float64, k float64, add bool, tail float64) (lo, hi float64) {
	sd := math.Sqrt(e.m * math.Expm1(1/(e.s*e.s)))
	underP := func(tilt float64) float64 {
		q, p := e.logMoments(single, tilt)
		if add {
			return q
		}
		return p
	}
	// the extreme point that each of the two conditions asks for
	var tiltedLo, massLo float64
	tiltedHi, massHi := math.Inf(1), math.Inf(1)
	for f := 0.02; f < 110; f *= 1.4 {
		l := f / sd
		above, _ := e.logMoments(single, e.tilt+l)
		below, _ := e.logMoments(single, e.tilt-l)
		tiltedHi = math.Min(tiltedHi, (above-k-ballsLogEta)/l)
		tiltedLo = math.Max(tiltedLo, (ballsLogEta+k-below)/l)
		massHi = math.Min(massHi, (underP(l)-math.Log(tail))/l)
		massLo = math.Max(massLo, (math.Log(tail)-underP(-l))/l)
	}
	return math.Min(tiltedLo, massLo), math.Max(tiltedHi, massHi)
}
