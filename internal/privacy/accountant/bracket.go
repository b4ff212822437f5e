package accountant

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// tiltedSum is the distribution of the sum of all losses of one lattice per
// part, tilted by e^{θL}, on a window of grid points: what an FFT of the
// tilted lattices gives. δ(ε) at any ε of the window takes O(1) from it.
type tiltedSum struct {
	h, theta float64
	logM     float64 // log of the tilting normaliser
	start    float64 // loss of point 0
	// stick[k] = Σ_{j>=k} mass[j] e^{-θ(l_j-l_k)} (1-e^{-(l_j-l_k)}),
	// mass[k] = Σ_{j>=k} mass[j] e^{-θ(l_j-l_k)}
	stick, mass []float64
	allowance   float64 // aliasing and rounding, in units of the sum
	relative    float64 // rounding of the normaliser and of the masses
	infinity    float64
}

// tilt is the plan that both bounds of a bracket share.
type tilt struct {
	theta float64
	window
	from float64 // left end of the window
	h    float64
	n    int // grid points, a power of two
}

// foldedPart is a part's lattice with its number of repetitions.
type foldedPart struct {
	*lattice
	count float64
}

// folder composes lattices by FFT; it keeps its buffers from one use to the next.
type folder struct {
	fft        *fourier.FFT
	seq        []float64
	coeff      []complex128
	logF, argF []float64
}

func newFolder(n int) *folder {
	half := n/2 + 1
	return &folder{fft: fourier.NewFFT(n), seq: make([]float64, n), coeff: make([]complex128, half),
		logF: make([]float64, half), argF: make([]float64, half)}
}

// negligibleLog is the log of a Fourier coefficient that is not worth computing.
const negligibleLog = -80

// fold composes the parts under the tilt.
func (f *folder) fold(parts []foldedPart, t tilt) *tiltedSum {
	n := t.n
	clear(f.logF)
	clear(f.argF)
	s := &tiltedSum{h: t.h, theta: t.theta}
	var offset, steps, logBelow, logAbove, logFinite, noise float64
	shift := 0 // of the folded sum, in grid points
	for _, p := range parts {
		center, logZ := f.transform(p, t.theta)
		for k, z := range f.coeff {
			if f.logF[k] < negligibleLog { // no factor is above 1
				continue
			}
			re, im := real(z), imag(z)
			f.logF[k] += p.count * 0.5 * math.Log(re*re+im*im)
			if f.logF[k] >= negligibleLog {
				f.argF[k] += p.count * math.Atan2(im, re)
			}
		}
		shift += int(p.count) * center
		offset += p.count * p.origin
		s.logM += p.count * logZ
		logBelow += p.count * p.logMoment(t.theta-t.lambdaBelow)
		logAbove += p.count * p.logMoment(t.theta+t.lambdaAbove)
		logFinite += p.count * math.Log1p(-p.infinity)
		steps += p.count
		if p.noise != nil {
			noise += p.count * math.Exp(p.noise(t.theta, t.h)-logZ)
		}
	}
	for k := range f.coeff {
		f.coeff[k] = 0
		if f.logF[k] >= negligibleLog {
			m := math.Exp(f.logF[k])
			sn, cs := math.Sincos(f.argF[k])
			f.coeff[k] = complex(m*cs, m*sn)
		}
	}
	c := f.fft.Sequence(f.seq, f.coeff)
	first := int(math.Floor((t.from - offset) / t.h))
	s.start = offset + float64(first)*t.h
	end := s.start + float64(n-1)*t.h
	s.infinity = -math.Expm1(logFinite)

	// Mass outside the window, by Chernoff's bound on the lattices themselves.
	outside := math.Exp(logAbove-s.logM-t.lambdaAbove*end) + math.Exp(logBelow-s.logM+t.lambdaBelow*s.start)
	norm := s.accumulate(c, first-shift)
	// Rounding: the FFT's error has at most `rounding` times the 2-norm of its
	// output, and the hockey stick's 2-norm on the grid is at most `stick`.
	rounding := 1e-10 + 16*unit*math.Log2(float64(n))*(1+steps)
	th := t.theta
	top := math.Exp(logHockeyStick(th))
	stick := math.Sqrt(1/(2*th*(1+2*th)*(1+th)*t.h) + 2*top*top)
	// An error e of one step's tilted masses reaches the sum as a convolution
	// with the other steps, whose 1-norm is 1.
	s.allowance = outside*top + (rounding*norm+2*noise)*stick
	s.relative = rounding + 4*unit*(math.Abs(s.logM)+th*math.Abs(s.start)+th*math.Abs(end))
	return s
}

// transform leaves the Fourier transform of the part's tilted lattice in
// f.coeff. center is the grid point that was moved to 0, logZ the log of the
// tilting normaliser.
func (f *folder) transform(p foldedPart, theta float64) (center int, logZ float64) {
	clear(f.seq)
	w, logZ := p.tilted(theta)
	mean := 0.0
	for i, x := range w {
		mean += float64(p.first+i) * x
	}
	center = int(math.Round(mean))
	for i, x := range w {
		f.seq[mod(p.first+i-center, len(f.seq))] += x
	}
	f.fft.Coefficients(f.coeff, f.seq)
	return center, logZ
}

// accumulate fills mass and stick from the output of the inverse transform,
// whose entry for grid point 0 is at index from, and returns its 2-norm. All
// terms are positive: nothing cancels.
func (s *tiltedSum) accumulate(c []float64, from int) (norm float64) {
	n := len(c)
	s.mass, s.stick = make([]float64, n+1), make([]float64, n+1)
	decay, one := math.Exp(-s.theta*s.h), -math.Expm1(-s.h)
	square := 0.0
	for k := n - 1; k >= 0; k-- {
		x := math.Max(0, c[mod(from+k, n)]/float64(n))
		square += x * x
		s.stick[k] = decay * (one*s.mass[k+1] + (1-one)*s.stick[k+1])
		s.mass[k] = x + decay*s.mass[k+1]
	}
	return math.Sqrt(square)
}

func mod(i, n int) int { return i & (n - 1) }

// tilted returns e^{θL} mass, normalised, and the log of the normaliser.
func (l *lattice) tilted(theta float64) (weights []float64, logZ float64) {
	weights = make([]float64, len(l.mass))
	logZ = l.eachTilted(theta, func(i int, w float64) { weights[i] = w })
	scale := 0.0
	for _, w := range weights {
		scale += w
	}
	for i := range weights {
		weights[i] /= scale
	}
	return weights, logZ
}

// logMoment is log E[e^{θL}; L finite and not dropped].
func (l *lattice) logMoment(theta float64) float64 {
	return l.eachTilted(theta, func(int, float64) {})
}

// eachTilted calls f with the index and the unnormalised tilted mass of every
// point, up to a common factor, and returns the logarithm of the normaliser.
func (l *lattice) eachTilted(theta float64, f func(i int, w float64)) (logZ float64) {
	at := func(i int) float64 { return theta * (l.origin + float64(l.first+i)*l.h) }
	top := math.Max(at(0), at(len(l.mass)-1))
	sum := 0.0
	if top <= safeExponent {
		for i, m := range l.mass {
			e := math.Expm1(at(i))
			sum += m * e
			f(i, m*(1+e))
		}
		return math.Log1p(sum - l.infinity - l.dropped)
	}
	for i, m := range l.mass {
		w := 0.0
		if m > 0 {
			w = m * math.Exp(at(i)-top)
		}
		sum += w
		f(i, w)
	}
	return top + math.Log(sum)
}

// sum is the hockey stick of the tilted sum at epsilon; ok is false outside
// the window.
func (s *tiltedSum) sum(epsilon float64) (v float64, ok bool) {
	pos := (epsilon - s.start) / s.h
	k := math.Ceil(pos)
	if !(k >= 0 && k < float64(len(s.mass)-1)) { // NaN and infinities too
		return 0, false
	}
	gap := (k - pos) * s.h // from epsilon up to point k
	return math.Exp(-s.theta*gap) * (-math.Expm1(-gap)*s.mass[int(k)] + math.Exp(-gap)*s.stick[int(k)]), true
}

// upper is an upper bound on δ(ε) when the lattices dominate.
func (s *tiltedSum) upper(epsilon float64) float64 {
	v, ok := s.sum(epsilon)
	if !ok {
		return math.Inf(1)
	}
	return math.Exp(s.logM-s.theta*epsilon)*(v+s.allowance)*(1+s.relative) + s.infinity
}

// lower is a lower bound on δ(ε) when the lattices are dominated.
func (s *tiltedSum) lower(epsilon float64) float64 {
	v, ok := s.sum(epsilon)
	if !ok {
		return 0
	}
	return math.Exp(s.logM-s.theta*epsilon) * math.Max(0, v-s.allowance) * (1 - s.relative)
}
