package noise

import (
	"encoding/binary"
	"math"
)

// normalGroup is how many normals are made at once, from as many words: a
// layout that a vector kernel of any width up to 8 lanes can keep.
const normalGroup = 16

// Normals sets dst to independent draws from N(0, 1) by the method of Box and
// Muller 1958, in float64. Every group of 16 uses the next 16 words w0..w15,
// a last short group too: for j < 8, with radius from wj and angle from w8+j,
//
//	dst[j] = r cos a,  dst[8+j] = r sin a,  r = sqrt(-2 log u),
//	u = (w+1)/2^64 in (0, 1] rounded to float64,  a = 2π w/2^64.
//
// |dst| <= 9.42. Each value is within 4 ulp of the formula; docs/noise.md says
// what float64 means for privacy. It allocates nothing.
func (s *Stream) Normals(dst []float64) {
	for len(dst) >= normalGroup {
		s.Fill(s.word[:])
		boxMuller((*[normalGroup]float64)(dst), &s.word)
		dst = dst[normalGroup:]
	}
	if len(dst) > 0 {
		var last [normalGroup]float64
		s.Fill(s.word[:])
		boxMuller(&last, &s.word)
		copy(dst, last[:])
	}
}

func boxMuller(z *[normalGroup]float64, words *[8 * normalGroup]byte) {
	for j := range normalGroup / 2 {
		radius := binary.LittleEndian.Uint64(words[8*j:])
		angle := binary.LittleEndian.Uint64(words[8*(j+normalGroup/2):])
		r := math.Sqrt(-2 * log((float64(radius)+1)*0x1p-64))
		sin, cos := sincosTurn(angle)
		z[j] = r * cos
		z[j+normalGroup/2] = r * sin
	}
}
