package parquet

import (
	"encoding/binary"
	"math"
)

// hybrid decodes runs of equal numbers and of numbers of a fixed width in bits, the
// first bit the lowest: https://parquet.apache.org/docs/file-format/data-pages/encodings/,
// "Run Length Encoding / Bit-Packing Hybrid".
type hybrid struct {
	b      []byte
	width  int
	equal  int // numbers left of a run, each of them value
	value  uint32
	packed int // numbers left that are packed from bit at of b
	at     int
}

func newHybrid(b []byte, width int) hybrid {
	if width > 32 {
		panic(errDamaged)
	}
	return hybrid{b: b, width: width}
}

// next decodes len(dst) numbers.
func (h *hybrid) next(dst []uint32) {
	for len(dst) > 0 {
		switch {
		case h.equal > 0:
			n := min(h.equal, len(dst))
			for i := range dst[:n] {
				dst[i] = h.value
			}
			h.equal -= n
			dst = dst[n:]
		case h.packed > 0:
			n := min(h.packed, len(dst))
			h.unpack(dst[:n])
			if h.packed -= n; h.packed == 0 {
				h.b, h.at = h.b[(h.at+7)/8:], 0
			}
			dst = dst[n:]
		default:
			h.run()
		}
	}
}

// run reads the head of the next run. Some programs write no runs for numbers of no bits, which are
// indices into a dictionary of one value.
func (h *hybrid) run() {
	if h.width == 0 && len(h.b) == 0 {
		h.equal, h.value = math.MaxInt32, 0
		return
	}
	head, n := binary.Uvarint(h.b)
	if n <= 0 || head>>1 == 0 || head > 1<<32 {
		panic(errDamaged)
	}
	h.b = h.b[n:]
	if head&1 == 0 {
		size := (h.width + 7) / 8
		if size > len(h.b) {
			panic(errDamaged)
		}
		var value [4]byte
		copy(value[:], h.b[:size])
		h.equal, h.value, h.b = int(head>>1), binary.LittleEndian.Uint32(value[:]), h.b[size:]
		return
	}
	// groups of 8; the last may be cut off behind the numbers that there are
	h.packed = int(head>>1) * 8
	if h.width > 0 {
		h.packed = min(h.packed, len(h.b)*8/h.width)
	}
	if h.packed == 0 {
		panic(errDamaged)
	}
}

func (h *hybrid) unpack(dst []uint32) {
	at := h.at
	unpackBits(h.b, at, h.width, len(dst), func(i int, x uint64) { dst[i] = uint32(x) })
	h.at = at + len(dst)*h.width
}

// unpackBits calls set for n numbers of some bits each, from bit at of b on.
func unpackBits(b []byte, at, width, n int, set func(i int, x uint64)) {
	if width < 0 || width > 64 || at+n*width > 8*len(b) {
		panic(errDamaged)
	}
	mask := uint64(1)<<width - 1
	if width == 64 {
		mask = ^uint64(0)
	}
	for i := range n {
		bit := at + i*width
		byteAt, shift := bit/8, bit%8
		var x uint64
		if byteAt+8 <= len(b) {
			x = binary.LittleEndian.Uint64(b[byteAt:]) >> shift
			if width+shift > 64 {
				x |= uint64(b[byteAt+8]) << (64 - shift)
			}
		} else {
			var tail [16]byte
			copy(tail[:], b[byteAt:])
			x = binary.LittleEndian.Uint64(tail[:]) >> shift
			if shift > 0 {
				x |= binary.LittleEndian.Uint64(tail[8:]) << (64 - shift)
			}
		}
		set(i, x&mask)
	}
}
