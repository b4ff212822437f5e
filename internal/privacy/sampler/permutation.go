package sampler

import "d3p/internal/privacy/noise"

// permutation is a random permutation of [0, n) that can be renewed.
type permutation interface {
	// renew takes a fresh permutation, which depends on the stream's key and
	// the step only.
	renew(step uint64)
	// outputs appends the images of lo, lo+1, ..., hi-1 to dst.
	outputs(dst []uint32, lo, hi int) []uint32
}

// feistelFrom is the number of records from which a Feistel network replaces the exact
// shuffle.
const feistelFrom = 1 << leastWidth

// permutationBlock is the first block, within a step of the sampling stream, of the numbers
// for a permutation or a subset. A batch's size comes from earlier blocks.
const permutationBlock = 1 << 32

func newPermutation(n int, src *noise.Stream) permutation {
	if n < feistelFrom {
		return newFisherYates(n, src)
	}
	return newFeistel(n, src)
}
