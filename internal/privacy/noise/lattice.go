package noise

import (
	"encoding/binary"
	"math"
)

// Floating-point noise has gaps, and which sums are reachable betrays the exact
// one (Mironov 2012). So a release is put on a lattice: it is the multiple of
// the spacing nearest to x + sigma·Z with a Z that is normal to 190 bits, and
// nothing else about the float64 numbers on the way shows. Rounding is
// post-processing of the Gaussian mechanism, whose guarantee it keeps.
//
// Z is taken from Normals where its error cannot matter, that is in all but
// about one of ten million cases, and computed with more bits in the others.

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
	for len(x) > 0 {
		n := min(len(x), normalChunk)
		s.lattice.add(s, x[:n], sigma)
		x = x[n:]
	}
}

// lattice is the memory of AddGaussian.
type lattice struct {
	z, words [normalChunk]float64 // words in the bytes of float64, as Normals has them
}

// Words outside [lowestWord, highestWord] make a radius too sensitive to the
// bits that follow them for farEnough to hold.
const (
	lowestWord  = 1 << 40
	highestWord = 1<<64 - 1<<39
)

// farEnough bounds, in spacings, how far t = (x + sigma·z)/spacing as computed
// may be from the exact one: |z| errs by less than 2^-40, from the rounding of u (2^-53/r,
// r > 2^-12.5), the bits below u (2^-64/(u r), u > 2^-24) and the formula
// (4 ulp); that is 2^-29 spacings. The sum has two more roundings; from |t| = 2^50
// on it leaves nothing certain.
func farEnough(t float64) float64 { return 0x1p-28 + 0x1p-51*math.Abs(t) }

// magic rounds a float64 below 2^51 to a whole number when added and taken off.
const magic = 0x1.8p52

func (l *lattice) add(s *Stream, x []float64, sigma float64) {
	groups := (len(x) + normalGroup - 1) / normalGroup
	z, words := l.z[:groups*normalGroup], l.words[:groups*normalGroup]
	place := s.place()
	s.Fill(bytesOf(words))
	copy(z, words)
	boxMuller(z)
	spacing := LatticeSpacing(sigma)
	perSpacing := 1 / spacing
	for len(x) > 0 {
		n := min(len(x), normalGroup)
		var rounded [normalGroup]float64
		certain := insensitive(words)
		for i, v := range x[:n] {
			t := (v + float64(sigma*z[i])) * perSpacing
			nearest := (t + magic) - magic
			if !(math.Abs(t-nearest) < 0.5-farEnough(t)) {
				certain = false
			}
			rounded[i&(normalGroup-1)] = nearest * spacing
		}
		if certain {
			copy(x, rounded[:n])
		} else {
			s.addExactly(x[:n], sigma, spacing, place, words)
		}
		x, z, words, place = x[n:], z[normalGroup:], words[normalGroup:], place+normalGroup/2
	}
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

// addExactly is add for one group, with more bits than could matter.
func (s *Stream) addExactly(x []float64, sigma, spacing float64, place uint64, words []float64) {
	const pairs = normalGroup / 2
	bytes := bytesOf(words[:normalGroup])
	for i := range x {
		if !(math.Abs(x[i]/spacing) < 0x1p50) {
			panic("noise: AddGaussian: a value is not finite or too large for its sigma")
		}
		j := i % pairs
		radius, angle := binary.LittleEndian.Uint64(bytes[8*j:]), binary.LittleEndian.Uint64(bytes[8*(j+pairs):])
		z := s.exactNormal(place+uint64(j), radius, angle, i >= pairs)
		x[i] = nearestExactly(x[i], sigma, spacing, z) * spacing
	}
}

// place returns the block that the next number is in: of numbers drawn later
// the place is higher by the number of blocks between, or by one more.
func (s *Stream) place() uint64 {
	return s.next - uint64(bufferSize-s.used+blockSize-1)/blockSize
}
