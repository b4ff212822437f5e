package sampler

import "d3p/internal/privacy/noise"

// bounded draws uniform numbers below a bound, exactly (Lemire 2019,
// arXiv:1805.10941), from 32-bit words that it takes from the stream in bulk.
type bounded struct {
	src   *noise.Stream
	used  int
	words [256]uint32
}

// seek begins the numbers of a step.
func (b *bounded) seek(step uint64) {
	b.src.SeekBlock(step, permutationBlock)
	b.used = len(b.words)
}

func (b *bounded) next() uint32 {
	if b.used >= len(b.words) {
		b.src.Words32(b.words[:])
		b.used = 0
	}
	w := b.words[b.used]
	b.used++
	return w
}

// below returns a number uniform on [0, n), n > 0.
func (b *bounded) below(n uint32) uint32 {
	product := uint64(b.next()) * uint64(n)
	if uint32(product) < n {
		for reject := -n % n; uint32(product) < reject; {
			product = uint64(b.next()) * uint64(n)
		}
	}
	return uint32(product >> 32)
}
