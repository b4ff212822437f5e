package sampler

import "d3p/internal/privacy/noise"

// bounded draws uniform numbers below a bound, exactly (Lemire 2019, arXiv:1805.10941),
// 256 at a time. Number i of a step uses the 32-bit word i of the step, and the rare word
// that must be rejected is replaced by numbers from a separate place: number i does not
// depend on the requests for the others.
type bounded struct {
	src   *noise.Stream
	again *noise.Stream
	step  uint64
	first uint64 // index of the next number
	words [256]uint32
}

// First block of the replacements within a step, and their distance.
const (
	againBlock  = 1 << 48
	againStride = 1 << 8
)

func newBounded(src *noise.Stream) bounded {
	return bounded{src: src, again: src.Clone()}
}

// seek begins the numbers of a step.
func (b *bounded) seek(step uint64) {
	b.src.SeekBlock(step, permutationBlock)
	b.step, b.first = step, 0
}

// next returns the next k <= 256 numbers, valid until the following call. The
// first is uniform on [0, n), and each bound is less by `less`, 0 or 1, than
// the one before.
func (b *bounded) next(k int, n, less uint32) []uint32 {
	words := b.words[:k]
	b.src.Words32(words)
	for i, w := range words {
		product := uint64(w) * uint64(n)
		if low := uint32(product); low < n && low < -n%n {
			product = b.replacement(uint64(i), n) << 32
		}
		words[i] = uint32(product >> 32)
		n -= less
	}
	b.first += uint64(k)
	return words
}

func (b *bounded) replacement(i uint64, n uint32) uint64 {
	b.again.SeekBlock(b.step, againBlock+(b.first+i)*againStride)
	return b.again.Uint64n(uint64(n))
}
