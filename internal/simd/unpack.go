package simd

import (
	"encoding/binary"
	"unsafe"
)

// Unpack8 copies whole numbers, a byte each, to rows of float32: dst[b·pitch+j] is the
// byte at+j, for j < count, of the row index[b] of table, for b < n. Of the row that comes
// 64 after it in index, which may be longer than n, the first fetch bytes are prefetched.
func Unpack8(dst []float32, pitch, n, count int, table []float32, stride, at int, index []uint32, fetch int) {
	if checkUnpack(dst, pitch, n, count, index) {
		active.unpack8(dst, pitch, n, count, table, stride, at, index, fetch)
	}
}

// Unpack32 is Unpack8 for float32; at is in bytes all the same.
func Unpack32(dst []float32, pitch, n, count int, table []float32, stride, at int, index []uint32, fetch int) {
	if checkUnpack(dst, pitch, n, count, index) {
		active.unpack32(dst, pitch, n, count, table, stride, at, index, fetch)
	}
}

// Unpack16 copies one whole number of two bytes of each row: dst[b·pitch] is that at byte
// at of the row index[b].
func Unpack16(dst []float32, pitch, n int, table []float32, stride, at int, index []uint32) {
	if checkUnpack(dst, pitch, n, 1, index) {
		bytes := Bytes(table)
		for b, k := range index[:n] {
			dst[b*pitch] = float32(binary.LittleEndian.Uint16(bytes[4*int(k)*stride+at:]))
		}
	}
}

// LookUp replaces n whole numbers dst[0], dst[pitch], ... by the entries of numbers at
// these places.
func LookUp(dst []float32, pitch, n int, numbers []float32) {
	for b := range n {
		dst[b*pitch] = numbers[int(dst[b*pitch])]
	}
}

// checkUnpack reports whether there is anything to copy.
func checkUnpack(dst []float32, pitch, n, count int, index []uint32) bool {
	if len(index) < n || n > 0 && len(dst) < (n-1)*pitch+count {
		panic("simd: too few rows to unpack, or too little room for them")
	}
	return n > 0 && count > 0
}

// Bytes are the bytes of numbers, in place.
func Bytes(numbers []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), 4*len(numbers))
}

func unpack8(dst []float32, pitch, n, count int, table []float32, stride, at int, index []uint32, _ int) {
	for b, k := range index[:n] {
		for j, x := range Bytes(table)[4*int(k)*stride+at:][:count] {
			dst[b*pitch+j] = float32(x)
		}
	}
}

func unpack32(dst []float32, pitch, n, count int, table []float32, stride, at int, index []uint32, _ int) {
	for b, k := range index[:n] {
		copy(dst[b*pitch:][:count], table[int(k)*stride+at/4:])
	}
}
