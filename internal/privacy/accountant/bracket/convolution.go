package bracket

import (
	"math"
	"slices"

	"d3p/internal/privacy/accountant/numeric"
)

// Convolution composes tilted lattices by FFT on n grid points that close in a
// ring: what falls off one end comes back at the other. Noise is theorem 2 of
// the package's documentation:
//
// dft transforms x = w - e, w the masses and e a unit mass at 0, so ‖x‖₁ is twice the
// mass off the heaviest point. With z the computed coefficient, F' = 1 + z and n = 2^t,
// |F - F'| <= 10ut ‖x‖₁. (Where the heaviest point has less than half of the mass, let it
// have its own computed mass: that differs by 3u from what the others leave, at most
// 3u‖x‖₁.) Where Re z >= -1/2, log|F'| is half of log1p(2 Re z + |z|²), wrong by at most
// 12u|z|/|F'|, elsewhere by 10u|z|/|F'|; the angle is at most π|z|/|F'| and wrong by
// 16u|z|/|F'|; multiplying both by T rounds another 5u|z|/|F'|. So F = F' e^x with |e^x -
// 1| <= a = (10t + 40) u ‖x‖₁/|F'|, and adding up P factors costs at most the share
// (P+3)/20 of that.
//
// The product is wrong by at most m((Π (1 + a_p)^(T_p)) - 1 + 16u), m its computed
// modulus and 16u for the last exponential, sine and cosine. Coefficients whose modulus
// plus bound is below e⁻⁸⁰ count as 0, also those of the lattices so far: no further
// factor is above 1. Parseval turns the bounds into the 2-norm of the masses' errors, and
// the inverse adds 5ut of the masses' 2-norm. Clipping negative masses only reduces
// errors.
type Convolution struct {
	fft        *dft
	factors    int // number of calls of add
	seq        []float64
	coeff      []complex128
	logF, argF []float64         // of the product of the transforms
	doubt      []float64         // log of 1 + the relative error of a coefficient, at most
	Shift      int               // grid points by which the product is moved down
	offset     float64           // sum of the origins
	moves      float64           // expected number of losses that are not at their lattice's heaviest point
	tilting    float64           // relative error of the tilted masses, at most
	beside     *Convolution      // a factor that is not raised to powers, or nil
	live       []liveCoefficient // those that are not dead; nil where there are too many
	highest    int               // the largest k of them
	low        lowFrequencies
	Noise      float64 // 2-norm of the rounding errors of the last sequence, at most
}

// liveCoefficient is coefficient k and its place in the arrays.
type liveCoefficient struct{ place, k int }

// lowShare is the largest number of blocks of a lattice times live coefficients, over
// the points of the ring, for which these are computed one by one: about where that
// takes as long as the transform.
const lowShare = 0.4

// NewConvolution is one on n points, at least 64, for a product of the given number of factors.
func NewConvolution(n, factors int) *Convolution {
	half := n/2 + 1
	return &Convolution{fft: newDFT(n), factors: factors, seq: make([]float64, n), coeff: make([]complex128, half),
		logF: make([]float64, half), argF: make([]float64, half), doubt: make([]float64, half)}
}

// negligibleLog is the log of a negligible Fourier coefficient.
const negligibleLog = -80

// Add multiplies the product by count losses of the lattice, tilted by
// e^{θL}, and returns the logarithm of the lattice's tilting normaliser.
func (r *Convolution) Add(l *Lattice, theta, count float64) (z normaliser) {
	w, z := l.tilted(theta)
	center := 0
	for i, x := range w {
		if x > w[center] {
			center = i
		}
	}
	// The transform of w, less 1 at the heaviest point, is small where that
	// point holds nearly everything: then nothing is lost when it is raised to
	// a high power.
	var rest numeric.Sum
	for i, x := range w {
		if i != center {
			rest.Add(x)
		}
	}
	w[center] = -rest.Value()
	wrong := r.coefficientError(2 * rest.Value())
	if r.fewLive(len(w)) {
		r.low.take(len(r.seq), r.highest, w, center)
		for _, c := range r.live {
			r.multiply(c.place, r.low.coefficient(c.k), count, wrong)
		}
	} else {
		clear(r.seq)
		for i, x := range w {
			r.seq[Mod(i-center, len(r.seq))] += x
		}
		r.fft.coefficients(r.coeff, r.seq)
		for k, z := range r.coeff {
			if !r.dead(k) {
				r.multiply(k, z, count, wrong)
			}
		}
	}
	r.keepLive()
	r.Shift += int(count) * (l.first + center)
	r.offset += count * l.origin
	r.moves += count * rest.Value()
	r.tilting = math.Max(r.tilting, z.relative)
	return z
}

// multiply multiplies coefficient k of the product by (1+z)^count, z being wrong by
// coefficientError.
func (r *Convolution) multiply(k int, z complex128, count, wrong float64) {
	re, im := real(z), imag(z)
	one := 1 + re
	modulus := math.Sqrt(one*one + im*im)
	r.logF[k] += count * numeric.LogAbs1p(re, im, modulus)
	r.argF[k] += count * math.Atan2(im, one)
	relative := wrong / math.Max(modulus, numeric.Tiniest)
	if relative > 0.01 {
		relative = math.Log1p(relative)
	}
	r.doubt[k] += count * relative
}

// fewLive reports that so few coefficients are live that those of a lattice of that many
// points are best computed one by one.
func (r *Convolution) fewLive(points int) bool {
	if r.live == nil {
		return false
	}
	blocks := points/(2*lowRadius(len(r.seq), r.highest)) + 1
	return float64(blocks*len(r.live)) < lowShare*float64(len(r.seq))
}

// keepLive finds the coefficients that are not dead. It gives up where one is of a high
// frequency.
func (r *Convolution) keepLive() {
	if r.live != nil {
		r.live = slices.DeleteFunc(r.live, func(c liveCoefficient) bool { return r.dead(c.place) })
	} else {
		half := len(r.seq) / 2
		most, digits := highestLow(len(r.seq)), bits(half)
		for place := range r.logF {
			if r.dead(place) {
				continue
			}
			k := half
			if place < half {
				k = reversed(place, digits)
			}
			if k > most {
				r.live = nil
				return
			}
			r.live = append(r.live, liveCoefficient{place, k})
		}
	}
	r.highest = 0
	for _, c := range r.live {
		r.highest = max(r.highest, c.k)
	}
}

// coefficientError bounds, relative to the modulus of a coefficient, the errors
// of its transform, logarithm, angle and their part in the sums, for masses
// with the given 1-norm.
func (r *Convolution) coefficientError(norm float64) float64 {
	digits := math.Log2(float64(len(r.seq)))
	return (10*digits + 40) * (1 + float64(r.factors+3)/20) * numeric.Unit * norm
}

// dead reports that coefficient k of the product is certainly negligible: no further factor is above 1.
func (r *Convolution) dead(k int) bool { return r.logF[k]+r.doubt[k] < negligibleLog }

// Sequence is the product to a power, times the factor beside it, as tilted masses on the
// ring: the entry of grid point i, counted from the origins' sum, is at index i -
// shifted(power). It sets noise. It stays valid until the next use of r.
func (r *Convolution) Sequence(power float64) []float64 {
	var errors numeric.Sum // of squares
	last := len(r.logF) - 1
	for k, logF := range r.logF {
		r.coeff[k] = 0
		dead := r.dead(k)
		logF *= power
		arg, doubt := power*r.argF[k], power*r.doubt[k]
		if r.beside != nil {
			dead = dead || r.beside.dead(k)
			logF += r.beside.logF[k]
			arg += r.beside.argF[k]
			doubt += r.beside.doubt[k]
		}
		if dead || logF+doubt < negligibleLog {
			continue
		}
		m := math.Exp(logF)
		sn, cs := math.Sincos(arg)
		r.coeff[k] = complex(m*cs, m*sn)
		e := m * (math.Expm1(math.Min(doubt, 1)) + 16*numeric.Unit)
		if doubt > 1 { // m may be 0 and e^doubt infinite
			e += math.Exp(logF + doubt)
		}
		if k != 0 && k != last {
			e *= math.Sqrt2 // its conjugate counts, too
		}
		errors.Add(e * e)
	}
	n := float64(len(r.seq))
	r.fft.sequence(r.seq, r.coeff)
	var squares numeric.Sum
	for i, x := range r.seq {
		squares.Add(x * x)
		r.seq[i] = math.Max(0, x)
	}
	r.Noise = (1 + 1e-9) * (math.Sqrt(errors.Value()/n) + transformError(len(r.seq))*math.Sqrt(squares.Value()) + math.Exp(negligibleLog+1))
	return r.seq
}

// moved is the expected number of losses of sequence(power) that are not at
// their lattice's heaviest point.
func (r *Convolution) moved(power float64) float64 {
	if r.beside == nil {
		return power * r.moves
	}
	return power*r.moves + r.beside.moves
}

// origins is the sum of the origins, and shifted the number of grid points, that
// sequence(power) is moved down by.
func (r *Convolution) origins(power float64) (offset float64, shifted int) {
	offset, shifted = power*r.offset, int(power)*r.Shift
	if r.beside != nil {
		offset, shifted = offset+r.beside.offset, shifted+r.beside.Shift
	}
	return offset, shifted
}

// Relative bounds the relative error of the sums' masses that comes from the
// masses of the lattices, e each: K losses that are not at the heaviest point bring a
// factor (1 ± e)^K, and K exceeds 100 + 2n with a probability below Crowd, n the expected
// number. The heaviest point, of mass w >= 1/2, brings (1 ± 2(1-w)e)^T, which is 1 ± 2ne;
// where w < 1/2, T <= 2n losses bring e each.
func (r *Convolution) Relative(power float64) float64 {
	tilting := r.tilting
	if r.beside != nil {
		tilting = math.Max(tilting, r.beside.tilting)
	}
	return (massError + tilting) * (100 + 4*r.moved(power))
}

// massError is the relative error that masses of cells are declared with.
const massError = 1e-13

// Crowd bounds the probability that more than 100 + 2n losses are not at their
// lattice's heaviest point when n are expected: e^(100+n) (n/(100+2n))^(100+2n), by Chernoff.
const Crowd = 1e-43
