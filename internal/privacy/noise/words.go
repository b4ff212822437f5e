package noise

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Words16 sets dst to the next 2·len(dst) bytes, read as little-endian numbers.
func (s *Stream) Words16(dst []uint16) {
	if len(dst) == 0 {
		return
	}
	s.Fill(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 2*len(dst)))
	if bigEndian() {
		for i, w := range dst {
			dst[i] = bits.ReverseBytes16(w)
		}
	}
}

// Words32 sets dst to the next 4·len(dst) bytes, read as little-endian numbers.
func (s *Stream) Words32(dst []uint32) {
	if len(dst) == 0 {
		return
	}
	s.Fill(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 4*len(dst)))
	if bigEndian() {
		for i, w := range dst {
			dst[i] = bits.ReverseBytes32(w)
		}
	}
}

// Words64 sets dst to the next 8·len(dst) bytes, read as little-endian numbers.
func (s *Stream) Words64(dst []uint64) {
	if len(dst) == 0 {
		return
	}
	s.Fill(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 8*len(dst)))
	if bigEndian() {
		for i, w := range dst {
			dst[i] = bits.ReverseBytes64(w)
		}
	}
}

func bigEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) != 1 }
