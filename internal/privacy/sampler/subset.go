package sampler

import (
	"math/bits"

	"d3p/internal/privacy/noise"
)

// subsets draws exactly uniform subsets of [0, n): the first k different ones of a
// sequence of uniform numbers. Of a subset of more than half of the records it
// draws those that are not in it, so that at most 1.4 numbers are needed for one
// that is new.
type subsets struct {
	n       int
	numbers bounded
	drawn   []uint64 // a mark for every record, none between steps
}

func newSubsets(n int, src *noise.Stream) *subsets {
	return &subsets{n: n, numbers: newBounded(src), drawn: make([]uint64, (n+63)/64)}
}

// draw appends the k members of the subset of a step, 0 <= k <= n, to dst. It
// depends on the stream's key, the step and k only.
func (s *subsets) draw(dst []uint32, step uint64, k int) []uint32 {
	s.numbers.seek(step)
	few, at := min(k, s.n-k), len(dst)
	for len(dst) < at+few {
		dst = s.mark(dst, s.numbers.next(min(at+few-len(dst), len(s.numbers.words)), uint32(s.n), 0))
	}
	if few < k {
		return s.others(dst[:at])
	}
	for _, i := range dst[at:] {
		s.drawn[i/64] = 0
	}
	return dst
}

// mark marks numbers and appends those that were not.
func (s *subsets) mark(dst, numbers []uint32) []uint32 {
	at, drawn := len(dst), s.drawn
	dst = append(dst, numbers...) // and overwritten by those that are new
	for _, i := range numbers {
		word, bit := &drawn[i/64], uint64(1)<<(i%64)
		dst[at] = i
		if *word&bit == 0 {
			at++
		}
		*word |= bit
	}
	return dst[:at]
}

// others appends the records without a mark, and clears all marks.
func (s *subsets) others(dst []uint32) []uint32 {
	for w, word := range s.drawn {
		open := ^word
		if last := s.n - 64*w; last < 64 {
			open &= 1<<last - 1
		}
		for ; open != 0; open &= open - 1 {
			dst = append(dst, uint32(64*w+bits.TrailingZeros64(open)))
		}
	}
	clear(s.drawn)
	return dst
}
