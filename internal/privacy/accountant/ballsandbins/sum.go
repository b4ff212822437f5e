// Package ballsandbins computes the dominating pair of an epoch of balls-and-bins
// sampling.
//
// The likelihood ratio of an epoch is the mean of m independent W = exp((2x-1)/(2s²)).
// Hockey sticks are monotone in the convex order, so spreading W over a linear grid with
// its mean kept gives an upper bound and merging a lower one; the m-fold sum S is an FFT
// on that grid, under a dozen linear tilts, and every value of S takes its mass from the
// transform with the smallest error there. A P-mass of 1e-5 delta over all epochs goes
// to infinite loss. The error, a 2-norm, is carried through the composition by package
// bracket (a convolution with the other epochs, whose 1-norm is 1).
//
// Where the 1-norm of that error would exceed 5e-3 of the tilted mass over all epochs,
// or S has no finite grid, the epoch counts as the one Gaussian step that it is when the
// assignment is known: a valid upper bound, flagged as the Rényi bound and not
// certified, which also caps every answer. With 4 epochs of 40 batches noise multipliers
// down to 0.8 are bracketed at delta = 1e-5.
package ballsandbins

import (
	"math"

	"d3p/internal/privacy/accountant/bracket"
	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/accountant/pairs"
)

// New is one epoch of balls-and-bins sampling with m batches: the
// likelihood ratio of the two neighbours is the mean of m independent
// W = exp((2x-1)/(2s²)), x ~ N(0, s²) (Chua et al. 2024, arXiv:2412.16802).
// The sum of the W is computed on a linear grid, where hockey sticks are
// monotone in the convex order: spreading W over grid points, mean kept, gives
// an upper bound, merging gives the lower bound in the field lower.
//
// P-mass up to tail may go to infinite loss.
func New(s float64, m int, add bool, tail float64) *pairs.Pair {
	e := epoch{s: s, m: float64(m)}
	e.cut = numeric.Bisect(0, 1+pairs.Far*s, func(x float64) bool { return e.excluded(x) <= tail/3 })
	variance := math.Expm1(1 / (s * s))
	e.g = math.Max(math.Sqrt(6*ballsSpread*variance), e.weight(e.cut)/maxBallsCells)
	if !(e.g < widestBallsCell) { // so little noise that W has no grid: not reliable
		return &pairs.Pair{Missing: 1, Lower: &pairs.Pair{Missing: 1}}
	}
	spread, merged := e.single()
	if add {
		// a smaller W means a larger loss: the cut mass goes to the last point
		spread[len(spread)-2] += numeric.NormalTail(e.cut / s)
	}
	up := e.sum(spread, add, tail/3)
	up.Infinity = tail / 3 // beyond the window
	// mass beyond the other side of the window is raised to its edge
	if rest := up.Missing - up.Infinity; rest > 0 && len(up.Atoms) > 0 {
		edge := 0
		if add {
			edge = len(up.Atoms) - 1
		}
		up.Atoms[edge].Mass += rest
		up.Missing = up.Infinity
	}
	up.Missing -= up.Infinity
	if !add {
		up.Infinity += e.excluded(e.cut)
		up.Missing -= e.excluded(e.cut)
	}
	up.Lower = e.sum(merged, add, tail/3)
	return up
}

// Reliable reports whether the error of the masses of count epochs is small under the
// tilt theta: elsewhere (very little noise, or very small delta) a linear tilt of the sum
// cannot replace a tilt of its logarithm.
func Reliable(p *pairs.Pair, theta float64, count int64) bool {
	if len(p.Atoms) == 0 {
		return false
	}
	logZ := math.Inf(-1)
	for _, a := range p.Atoms {
		logZ = numeric.LogAddExp(logZ, theta*a.Loss+math.Log(a.Mass))
	}
	logNoise := p.Noise(theta, 0) + 0.5*math.Log(float64(len(p.Atoms))) // of the 1-norm
	return math.Abs(p.Missing) < 1e-3 && logNoise-logZ < math.Log(ballsNoise/float64(count))
}

const (
	// ballsNoise bounds the 1-norm of the error of the tilted masses, over all
	// epochs, so that products of errors do not count (bracket's bounds.include).
	ballsNoise    = 5e-3
	TailShare     = 1e-5 // part of delta that may go to infinite loss, of all epochs
	ballsSpread   = 2e-5 // wanted relative inflation of the variance of W
	maxBallsCells = 1 << 17
)

// The points of one of them, and of the range of all.
const (
	leastBallsPoints = 1 << 10
	maxBallsPoints   = 1 << 20
	widestBalls      = 1 << 22
)

// widestBallsCell is far above the spacing of any grid that serves.
const widestBallsCell = 1e100

// ballsTilts is the number of tilts under which the sum is computed.
const ballsTilts = 12

// ballsLogEta is log of the tilted mass that may be outside a window.
const ballsLogEta = -39

// sum is the epoch's loss: the m-fold sum S of the single law, in the range
// beyond which P has at most tail on either side. One FFT serves the values of
// S near which its tilt puts the mass; every value takes its mass from the one
// whose error there is least.
func (e *epoch) sum(single []float64, add bool, tail float64) *pairs.Pair {
	lo, hi := e.reach(single, add, tail)
	if !(hi > lo && hi-lo < widestBalls*e.g) { // too wide for a grid: not reliable
		return &pairs.Pair{Missing: 1}
	}
	first, n := int(math.Floor(lo/e.g)), int((hi-lo)/e.g)+2
	mass, logError := make([]float64, n), make([]float64, n)
	for i := range logError {
		logError[i] = math.Inf(1)
	}
	known, relative := 0, 0.0
	for _, tilt := range e.tilts(single, add, lo, hi) {
		t, ok := e.transform(single, tilt, float64(first)*e.g, float64(first+n)*e.g)
		if !ok {
			continue
		}
		for i := range n {
			s := float64(first+i) * e.g
			if own := t.logNoise + t.logM - tilt*s; s >= t.lo && s <= t.hi && own < logError[i] {
				mass[i], logError[i] = t.mass[bracket.Mod(first+i-t.shifted, len(t.mass))]*math.Exp(t.logM-tilt*s), own
			}
		}
		relative = math.Max(relative, t.relative)
		known++
	}
	p := &pairs.Pair{End: math.Inf(-1), Relative: relative}
	total := 0.0
	var logErrors, losses []float64 // of P-masses; atoms without computed mass count too
	for i := range n {
		s := float64(first+i) * e.g
		if s <= 0 {
			continue
		}
		loss, q := math.Log(s/e.m), mass[i]
		if add {
			loss = -loss
		} else {
			q *= s / e.m
			logError[i] += loss
		}
		logErrors, losses = append(logErrors, logError[i]), append(losses, loss)
		if q > 0 {
			total += q
			p.Atoms = append(p.Atoms, pairs.Atom{Loss: loss, Mass: q})
		}
	}
	p.Missing = 1 - total
	p.Noise = func(theta, h float64) float64 {
		worst := math.Inf(-1)
		for i, loss := range losses {
			worst = math.Max(worst, theta*loss+logErrors[i])
		}
		perBin := 2 * (2 + h*hi/e.g) // atoms that meet in one grid point
		return worst + 0.5*math.Log(perBin) + 0.5*math.Log(float64(known))
	}
	return p
}

// epochTransform is the law of the sum under one tilt, on a ring of grid points.
type epochTransform struct {
	logM     float64
	lo, hi   float64   // values of the sum that it holds
	mass     []float64 // tilted; that of value i g is at index i - shifted
	shifted  int
	relative float64 // error of the masses, relative to each
	logNoise float64 // log of the 2-norm of the errors
}

// transform composes the single law m times under the tilt, on a ring that
// holds the range from lo to hi too.
func (e *epoch) transform(single []float64, tilt, lo, hi float64) (t epochTransform, ok bool) {
	t.logM, _ = e.logMoments(single, tilt)
	t.lo, t.hi = e.window(single, t.logM, tilt)
	t.lo, t.hi = math.Min(t.lo, lo), math.Max(t.hi, hi)
	n := leastBallsPoints
	for float64(n-2)*e.g < t.hi-t.lo && n <= maxBallsPoints {
		n *= 2
	}
	if n > maxBallsPoints || math.IsNaN(t.hi-t.lo) {
		return t, false
	}
	r := bracket.NewConvolution(n, 1)
	of := &bracket.Lattice{H: e.g, Mass: single, Partial: true}
	t.logM = e.m * r.Add(of, tilt, e.m).Log
	t.mass = r.Sequence(1)
	t.shifted = r.Shift
	t.logNoise = math.Log(r.Noise + 2*math.Exp(ballsLogEta) + bracket.Crowd)
	t.relative = math.Expm1(r.Relative(1) + e.m*of.EachTilted(tilt, func(int, float64) {}).Doubt)
	return t, true
}

// tilts are those whose laws have their means spread, in ratio, from m to the
// end of the range where large losses are.
func (e *epoch) tilts(single []float64, add bool, lo, hi float64) []float64 {
	tilts := []float64{0}
	end := hi
	if add {
		end = lo
	}
	last := 0.0
	for j := 1; j < ballsTilts; j++ {
		want := float64(j) / (ballsTilts - 1) * math.Log(end/e.m)
		logMean := func(tilt float64) float64 {
			underQ, underP := e.logMoments(single, tilt)
			return underP - underQ
		}
		beyond := func(tilt float64) bool { return math.Abs(logMean(tilt)) >= math.Abs(want) }
		near, step := last, math.Copysign(0.25/e.spread(), want)
		for range 60 { // to a tilt whose mean is far enough out, then back
			if last = near + step; beyond(last) {
				break
			}
			near, step = last, step*1.5
		}
		for range 12 {
			if mid := (near + last) / 2; beyond(mid) {
				last = mid
			} else {
				near = mid
			}
		}
		tilts = append(tilts, last)
	}
	return tilts
}
