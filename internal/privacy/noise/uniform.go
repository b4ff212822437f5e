package noise

import "math/bits"

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
