package noise

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// normalGroup is the number of normals made at once, from as many words: a layout that fits
// vector registers of up to 8 lanes.
const normalGroup = 16

// normalChunk is the number of normals whose words are made before they are used, so that
// they stay in the first cache.
const normalChunk = 16 * normalGroup

// Normals sets dst to independent draws from N(0, 1) by the method of Box and
// Muller 1958, in float64. Every group of 16 uses the next 16 words w0..w15,
// a last short group too: for j < 8, with radius from wj and angle from w8+j,
//
//	dst[j] = r cos a,  dst[8+j] = r sin a,  r = sqrt(-2 log u),
//	u = (w+1)/2^64 in (0, 1] rounded to float64,  a = 2π w/2^64.
//
// |dst| <= 9.42. Each value is within 4 ulp of the formula, and all machines give the
// same bits; docs/design/noise.md explains what float64 means for privacy. It allocates
// nothing.
func (s *Stream) Normals(dst []float64) {
	for whole := len(dst) &^ (normalGroup - 1); whole > 0; {
		z := dst[:min(whole, normalChunk)]
		s.Fill(bytesOf(z))
		boxMuller(z, z)
		whole -= len(z)
		dst = dst[len(z):]
	}
	if len(dst) > 0 {
		s.Fill(bytesOf(s.last[:]))
		boxMuller(s.last[:], s.last[:])
		copy(dst, s.last[:])
	}
}

// bytesOf returns the memory of z.
func bytesOf(z []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&z[0])), 8*len(z))
}

// boxMuller sets z, whole groups, to the normals of words, which may be in the same
// memory.
func boxMuller(z, words []float64) {
	if !boxMullerFast(z, words) {
		boxMullerPortable(z, words)
	}
}

// boxMullerPortable is boxMuller in Go, and the reference of the faster ones.
func boxMullerPortable(z, words []float64) {
	const pairs = normalGroup / 2
	for ; len(z) > 0; z, words = z[normalGroup:], words[normalGroup:] {
		bytes := bytesOf(words[:normalGroup])
		for j := range pairs {
			radius := binary.LittleEndian.Uint64(bytes[8*j:])
			angle := binary.LittleEndian.Uint64(bytes[8*(j+pairs):])
			r := math.Sqrt(-2 * log((float64(radius)+1)*0x1p-64))
			sin, cos := sincosTurn(angle)
			z[j] = r * cos
			z[j+pairs] = r * sin
		}
	}
}
