package noise

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Floating-point noise has gaps, and the set of reachable sums betrays the exact sum
// (Mironov 2012). So a release lies on a lattice: it is the multiple of the spacing nearest
// to x + sigma·Z, where Z is normal to 190 bits. It shows nothing else of the float64
// numbers on the way. Rounding is post-processing of the Gaussian mechanism, whose
// guarantee it keeps.
//
// Z is taken from Normals where its error cannot matter, that is in all but about one of
// ten million cases, and computed with more bits in the others.

// latticeBits sets the spacing: sigma/2^11 < spacing <= sigma/2^10. Rounding
// adds less than 1e-7 to the variance, relatively.
const latticeBits = 10

// LatticeSpacing returns the spacing of the lattice that AddGaussian releases
// on: the largest power of two that is at most sigma/2^10.
func LatticeSpacing(sigma float64) float64 {
	_, exponent := math.Frexp(sigma) // sigma = f·2^exponent, 1/2 <= f < 1
	return math.Ldexp(1, exponent-1-latticeBits)
}

// AddGaussian sets every x[i] to the multiple of LatticeSpacing(sigma) nearest
// to x[i] + sigma·Z_i, with independent Z_i from N(0, 1). It uses the words
// that Normals would use, and allocates nothing but once. It panics unless
// sigma is positive and normal and every x[i] is below 2^50 spacings.
func (s *Stream) AddGaussian(x []float64, sigma float64) {
	if !(sigma >= 0x1p-900 && sigma <= 0x1p900) {
		panic("noise: AddGaussian needs a positive, finite sigma")
	}
	if s.lattice == nil {
		s.lattice = new(lattice)
	}
	spacing := LatticeSpacing(sigma)
	p := latticeScale{sigma, spacing, 1 / spacing}
	for len(x) > 0 {
		n := min(len(x), normalChunk)
		s.lattice.add(s, x[:n], p)
		x = x[n:]
	}
}

// lattice is the memory of AddGaussian.
type lattice struct {
	z, words [normalChunk]float64 // words in the bytes of float64, as Normals has them
	x        [normalChunk]float64 // numbers that end within a group, and zeros
}

// latticeScale is the deviation of the noise and the lattice that belongs to it.
type latticeScale struct{ sigma, spacing, perSpacing float64 }

// Words outside [lowestWord, highestWord] make a radius too sensitive to the
// bits that follow them for farEnough to hold.
const (
	lowestWord  = 1 << 40
	highestWord = 1<<64 - 1<<39
)

// farEnough bounds, in spacings, how far t = (x + sigma·z)/spacing as computed
// may be from the exact one. |z| errs by less than 2^-40, from the rounding of u
// (2^-53/r, r > 2^-12.5), the bits below u (2^-64/(u r), u > 2^-24) and the
// formula (4 ulp); that is 2^-29 spacings. The sum has two more roundings. From
// |t| = 2^50 on nothing is certain.
func farEnough(t float64) float64 { return 0x1p-28 + 0x1p-51*math.Abs(t) }

// magic rounds a float64 below 2^51 to a whole number when added and taken off.
const magic = 0x1.8p52

func (l *lattice) add(s *Stream, x []float64, p latticeScale) {
	groups := (len(x) + normalGroup - 1) / normalGroup
	z, words := l.z[:groups*normalGroup], l.words[:groups*normalGroup]
	place := s.place()
	s.Fill(bytesOf(words))
	boxMuller(z, words)
	whole := x
	if len(x) < len(z) {
		whole = l.x[:len(z)]
		clear(whole[copy(whole, x):])
	}
	doubt := p.round(whole, z, words)
	if len(x) < len(z) {
		copy(x, whole)
	}
	for ; doubt != 0; doubt &= doubt - 1 {
		low := bits.TrailingZeros32(doubt) * normalGroup
		s.addExactly(x[low:min(low+normalGroup, len(x))], p, place+uint64(low/2), words[low:])
	}
}

// round sets groups of x to the multiples of the spacing nearest to x + sigma·z. Where float64
// does not decide group k, it leaves the group alone and sets bit k of doubt.
func (p latticeScale) round(x, z, words []float64) (doubt uint32) {
	if doubt, done := roundFast(x, z, words, p); done {
		return doubt
	}
	for low := 0; low < len(x); low += normalGroup {
		if !p.roundGroup(x[low:low+normalGroup], z[low:], words[low:]) {
			doubt |= 1 << (low / normalGroup)
		}
	}
	return doubt
}

// roundGroup is round for one group, and reports whether float64 is certain of it.
func (p latticeScale) roundGroup(x, z, words []float64) bool {
	certain := insensitive(words)
	var rounded [normalGroup]float64
	for i, v := range x {
		t := (v + float64(p.sigma*z[i])) * p.perSpacing
		nearest := (t + magic) - magic
		if !(math.Abs(t-nearest) < 0.5-farEnough(t)) {
			certain = false
		}
		rounded[i] = nearest * p.spacing
	}
	if certain {
		copy(x, rounded[:])
	}
	return certain
}

// insensitive reports whether the radius words of a group are in the range
// where farEnough holds.
func insensitive(words []float64) bool {
	bytes := bytesOf(words[:normalGroup/2])
	certain := true
	for j := 0; j < len(bytes); j += 8 {
		if binary.LittleEndian.Uint64(bytes[j:])-lowestWord > highestWord-lowestWord {
			certain = false
		}
	}
	return certain
}

// addExactly is roundGroup, into x, with more bits than could matter.
func (s *Stream) addExactly(x []float64, p latticeScale, place uint64, words []float64) {
	const pairs = normalGroup / 2
	bytes := bytesOf(words[:normalGroup])
	for i := range x {
		if !(math.Abs(x[i]/p.spacing) < 0x1p50) {
			panic("noise: AddGaussian: a value is not finite or too large for its sigma")
		}
		j := i % pairs
		radius, angle := binary.LittleEndian.Uint64(bytes[8*j:]), binary.LittleEndian.Uint64(bytes[8*(j+pairs):])
		z := s.exactNormal(place+uint64(j), radius, angle, i >= pairs)
		x[i] = nearestExactly(x[i], p.sigma, p.spacing, z) * p.spacing
	}
}

// place returns the block that the next number is in: of numbers drawn later
// the place is higher by the number of blocks between, or by one more.
func (s *Stream) place() uint64 {
	return s.next - uint64(bufferSize-s.used+blockSize-1)/blockSize
}
