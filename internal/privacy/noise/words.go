package noise

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Words16 sets dst to the next 2·len(dst) bytes, read as little-endian numbers.
func (s *Stream) Words16(dst []uint16) { fillWords(s, dst, bits.ReverseBytes16) }

// Words32 sets dst to the next 4·len(dst) bytes, read as little-endian numbers.
func (s *Stream) Words32(dst []uint32) { fillWords(s, dst, bits.ReverseBytes32) }

// Words64 sets dst to the next 8·len(dst) bytes, read as little-endian numbers.
func (s *Stream) Words64(dst []uint64) { fillWords(s, dst, bits.ReverseBytes64) }

func fillWords[T uint16 | uint32 | uint64](s *Stream, dst []T, reverse func(T) T) {
	if len(dst) == 0 {
		return
	}
	s.Fill(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), len(dst)*int(unsafe.Sizeof(dst[0]))))
	if bigEndian() {
		for i, w := range dst {
			dst[i] = reverse(w)
		}
	}
}

func bigEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) != 1 }
