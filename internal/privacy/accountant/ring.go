package accountant

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// ring composes tilted lattices by FFT on n grid points that close in a ring:
// what falls off one end comes back at the other.
type ring struct {
	fft        *fourier.FFT
	seq        []float64
	coeff      []complex128
	logF, argF []float64 // of the product of the transforms
	shift      int       // grid points by which the product is moved down
	offset     float64   // sum of the origins
	moves      float64   // expected number of losses that are not at their lattice's heaviest point
	beside     *ring     // a factor that is not raised to powers; nil when there is none
}

func newRing(n int) *ring {
	half := n/2 + 1
	return &ring{fft: fourier.NewFFT(n), seq: make([]float64, n), coeff: make([]complex128, half),
		logF: make([]float64, half), argF: make([]float64, half)}
}

// negligibleLog is the log of a Fourier coefficient that is not worth computing.
const negligibleLog = -80

// add multiplies the product by count losses of the lattice, tilted by
// e^{θL}, and returns the logarithm of the lattice's tilting normaliser.
func (r *ring) add(l *lattice, theta, count float64) (logZ float64) {
	clear(r.seq)
	w, logZ := l.tilted(theta)
	center := 0
	for i, x := range w {
		if x > w[center] {
			center = i
		}
	}
	// The transform of w, less 1 at the heaviest point, is small where that
	// point holds nearly everything: then nothing is lost when it is raised to
	// a high power.
	rest := 0.0
	for i, x := range w {
		if i != center {
			rest += x
			r.seq[mod(i-center, len(r.seq))] += x
		}
	}
	r.seq[0] -= rest
	r.fft.Coefficients(r.coeff, r.seq)
	for k, z := range r.coeff {
		if r.logF[k] < negligibleLog { // no factor is above 1
			continue
		}
		re, im := real(z), imag(z)
		r.logF[k] += count * logAbs1p(re, im)
		if r.logF[k] >= negligibleLog {
			r.argF[k] += count * math.Atan2(im, 1+re)
		}
	}
	r.shift += int(count) * (l.first + center)
	r.offset += count * l.origin
	r.moves += count * rest
	return logZ
}

// logAbs1p is log|1+z|: relatively precise for small z, and for 1+z near 0 as
// precise as that is, which its square would not be.
func logAbs1p(re, im float64) float64 {
	if re < -0.5 {
		return math.Log(math.Hypot(1+re, im))
	}
	return 0.5 * math.Log1p(2*re+re*re+im*im)
}

// sequence is the product to a power, and what is beside it, as tilted masses
// on the ring: the entry of grid point i, counted from the origins' sum, is at
// index i - shifted(power).
// It stays valid until the next use of the ring.
func (r *ring) sequence(power float64) []float64 {
	for k, logF := range r.logF {
		r.coeff[k] = 0
		logF *= power
		arg := power * r.argF[k]
		if r.beside != nil {
			logF += r.beside.logF[k]
			arg += r.beside.argF[k]
		}
		if logF >= negligibleLog {
			m := math.Exp(logF)
			sn, cs := math.Sincos(arg)
			r.coeff[k] = complex(m*cs, m*sn)
		}
	}
	c := r.fft.Sequence(r.seq, r.coeff)
	scale := 1 / float64(len(c))
	for i, x := range c {
		c[i] = math.Max(0, x*scale)
	}
	return c
}

// rounding bounds the 2-norm of the error of sequence(power) in units of its
// 2-norm: every Fourier coefficient is wrong by at most 8u log2(n) times the
// 1-norm of what was transformed, and the power multiplies that.
func (r *ring) rounding(power float64) float64 {
	return 8 * unit * math.Log2(float64(len(r.seq))) * (1 + 2*r.moved(power))
}

// moved is the expected number of losses of sequence(power) that are not at
// their lattice's heaviest point.
func (r *ring) moved(power float64) float64 {
	if r.beside == nil {
		return power * r.moves
	}
	return power*r.moves + r.beside.moves
}

// origins is the sum of the origins, and shifted the number of grid points, that
// sequence(power) is moved down by.
func (r *ring) origins(power float64) (offset float64, shifted int) {
	offset, shifted = power*r.offset, int(power)*r.shift
	if r.beside != nil {
		offset, shifted = offset+r.beside.offset, shifted+r.beside.shift
	}
	return offset, shifted
}

// relative bounds the relative error of the sums' masses that comes from the
// masses of the lattices: each factor that is not at the heaviest point brings
// its own.
func (r *ring) relative(power float64) float64 { return massError * (100 + 2*r.moved(power)) }

// massError is the relative error that masses of cells are declared with.
const massError = 1e-13

func mod(i, n int) int { return i & (n - 1) }
