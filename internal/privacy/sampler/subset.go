package sampler

import "d3p/internal/privacy/noise"

// subsets draws subsets of [0, n).
type subsets interface {
	// draw appends the k members of the subset of a step, 0 <= k <= n, to dst. It
	// depends on the stream's key, the step and k only.
	draw(dst []uint32, step uint64, k int) []uint32
}

func newSubsets(batches string, n int, src *noise.Stream) subsets {
	if batches == Feistel {
		return newNetworkSubsets(n, src)
	}
	return newExactSubsets(n, src)
}

// exactSubsets draws exactly uniform subsets of [0, n): the first k different numbers of a
// sequence of uniform ones. For a subset of more than half of the records it draws the
// complement, so that it needs at most 1.4 numbers per new one.
type exactSubsets struct {
	n       int
	numbers bounded
	drawn   marks
}

func newExactSubsets(n int, src *noise.Stream) *exactSubsets {
	return &exactSubsets{n: n, numbers: newBounded(src), drawn: newMarks(n)}
}

func (s *exactSubsets) draw(dst []uint32, step uint64, k int) []uint32 {
	s.numbers.seek(step)
	few, at := min(k, s.n-k), len(dst)
	for len(dst) < at+few {
		dst = s.drawn.set(dst, s.numbers.next(min(at+few-len(dst), len(s.numbers.words)), uint32(s.n), 0))
	}
	if few < k {
		return s.drawn.others(dst[:at], uint32(s.n))
	}
	s.drawn.clear(dst[at:])
	return dst
}
