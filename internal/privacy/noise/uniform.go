package noise

import (
	"math"
	"math/bits"
)

// Uint64n returns a number uniform on [0, n), exactly: Lemire 2019,
// arXiv:1805.10941. It panics if n is 0.
func (s *Stream) Uint64n(n uint64) uint64 {
	if n == 0 {
		panic("noise: Uint64n(0)")
	}
	hi, lo := bits.Mul64(s.Uint64(), n)
	if lo < n {
		for reject := -n % n; lo < reject; {
			hi, lo = bits.Mul64(s.Uint64(), n)
		}
	}
	return hi
}

// Float64 returns a multiple of 2^-53 uniform on [0, 1).
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) * 0x1p-53 }

// Bernoulli returns true with probability p, to within 2^-128. It panics
// unless 0 <= p <= 1.
func (s *Stream) Bernoulli(p float64) bool {
	if !(p >= 0 && p <= 1) {
		panic("noise: Bernoulli probability outside [0, 1]")
	}
	if p == 1 {
		return true
	}
	hi, lo := fixedPoint(p)
	if w := s.Uint64(); w != hi {
		return w < hi
	}
	return s.Uint64() < lo
}

// fixedPoint returns p in [0, 1) as a 128-bit fraction, the part below 2^-128
// cut off.
func fixedPoint(p float64) (hi, lo uint64) {
	scaled := p * 0x1p64
	whole := math.Floor(scaled)
	return uint64(whole), uint64((scaled - whole) * 0x1p64)
}
