//go:build !purego

package noise

import (
	"encoding/binary"
	"math/bits"

	"golang.org/x/sys/cpu"
)

// schedule is the 15 round keys of AES-256 in the order of their bytes, for
// the AES instructions. Eight (AES-NI) or sixteen (VAES) counters are in flight
// at a time, which a call per block of crypto/aes does not allow.
type schedule struct {
	key [60]uint32
	use level
}

type level uint8

const (
	none level = iota
	aesni
	vaes
)

// available returns the fastest instructions of this machine.
func available() level {
	switch x := &cpu.X86; {
	case x.HasAES && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VAES:
		return vaes
	case x.HasAES && x.HasSSE41 && x.HasSSSE3:
		return aesni
	}
	return none
}

// expand is the key expansion of FIPS 197, section 5.2. Words are read
// little-endian, so RotWord rotates to the right.
func (s *schedule) expand(key []byte) {
	if s.use = available(); s.use == none {
		return
	}
	for i := range 8 {
		s.key[i] = binary.LittleEndian.Uint32(key[4*i:])
	}
	for i := 8; i < len(s.key); i++ {
		w := s.key[i-1]
		switch i % 8 {
		case 0:
			w = bits.RotateLeft32(subWord(w), -8) ^ 1<<(i/8-1)
		case 4:
			w = subWord(w)
		}
		s.key[i] = s.key[i-8] ^ w
	}
}

func (s *schedule) keystream(dst []byte, high, low uint64) bool {
	if s.use == none || len(dst) == 0 {
		return s.use != none
	}
	n := len(dst) / blockSize
	if s.use == vaes {
		if wide := n &^ 15; wide > 0 {
			keystreamVAES(&s.key, &dst[0], wide, high, low)
			dst, low, n = dst[wide*blockSize:], low+uint64(wide), n-wide
		}
	}
	if n > 0 {
		keystreamAESNI(&s.key, &dst[0], n, high, low)
	}
	return true
}

// subWord applies the S-box of AES to each byte of w.
//
//go:noescape
func subWord(w uint32) uint32

// keystreamAESNI writes n > 0 blocks, AES(high || low + i), to dst.
//
//go:noescape
func keystreamAESNI(key *[60]uint32, dst *byte, n int, high, low uint64)

// keystreamVAES is keystreamAESNI for n a multiple of 16.
//
//go:noescape
func keystreamVAES(key *[60]uint32, dst *byte, n int, high, low uint64)
