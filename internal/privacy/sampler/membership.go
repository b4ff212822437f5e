package sampler

import (
	"math/bits"
	"slices"
)

// marks has a mark for every drawn record.
type marks interface {
	// set marks records and appends those to dst that were not.
	set(dst, records []uint32) []uint32
	// others appends the records below n without a mark, and takes all marks.
	others(dst []uint32, n uint32) []uint32
	// clear takes the marks of records, the only ones that there are.
	clear(records []uint32)
}

// bitsFrom is the number of records from which a mark is a bit, because bytes would not fit
// in the cache. Records that share a word of bits wait for each other.
const bitsFrom = 1 << 19

func newMarks(n int) marks {
	if n < bitsFrom {
		return make(byteMarks, n)
	}
	return make(bitMarks, (n+63)/64)
}

// byteMarks is 1 for a marked record.
type byteMarks []uint8

func (m byteMarks) set(dst, records []uint32) []uint32 {
	at := len(dst)
	dst = slices.Grow(dst, len(records))[:at+len(records)]
	for _, i := range records {
		dst[at] = i
		at += 1 - int(m[i])
		m[i] = 1
	}
	return dst[:at]
}

func (m byteMarks) others(dst []uint32, n uint32) []uint32 {
	for i, mark := range m[:n] {
		if mark == 0 {
			dst = append(dst, uint32(i))
		}
	}
	clear(m)
	return dst
}

func (m byteMarks) clear(records []uint32) {
	for _, i := range records {
		m[i] = 0
	}
}

// bitMarks has the mark of record i in bit i%64 of word i/64.
type bitMarks []uint64

func (m bitMarks) set(dst, records []uint32) []uint32 {
	at := len(dst)
	dst = slices.Grow(dst, len(records))[:at+len(records)]
	for _, i := range records {
		word, bit := &m[i/64], uint64(1)<<(i%64)
		dst[at] = i
		if *word&bit == 0 {
			at++
		}
		*word |= bit
	}
	return dst[:at]
}

func (m bitMarks) others(dst []uint32, n uint32) []uint32 {
	for w, word := range m {
		first := uint32(64 * w)
		open := ^word
		if n-first < 64 {
			open &= 1<<(n-first) - 1
		}
		for ; open != 0; open &= open - 1 {
			dst = append(dst, first+uint32(bits.TrailingZeros64(open)))
		}
	}
	clear(m)
	return dst
}

func (m bitMarks) clear(records []uint32) {
	for _, i := range records {
		m[i/64] = 0
	}
}
