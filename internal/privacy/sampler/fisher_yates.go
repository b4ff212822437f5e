package sampler

import "d3p/internal/privacy/noise"

// fisherYates is an exactly uniform permutation, made as far as it is asked
// for. Between steps only the entries that moved are put back, so a step costs
// as much as the outputs taken, and each step starts from the identity.
type fisherYates struct {
	numbers bounded
	entries []uint32 // [:done] are final
	swapped []uint32 // where entry i < done came from
	done    int
}

func newFisherYates(n int, src *noise.Stream) *fisherYates {
	f := &fisherYates{
		numbers: bounded{src: src},
		entries: make([]uint32, n),
		swapped: make([]uint32, n),
	}
	for i := range f.entries {
		f.entries[i] = uint32(i)
	}
	f.numbers.seek(0)
	return f
}

func (f *fisherYates) renew(step uint64) {
	for i, j := range f.swapped[:f.done] {
		f.entries[i] = uint32(i)
		f.entries[j] = j
	}
	f.done = 0
	f.numbers.seek(step)
}

func (f *fisherYates) outputs(dst []uint32, lo, hi int) []uint32 {
	n := uint32(len(f.entries))
	for i := uint32(f.done); i < uint32(hi); i++ {
		j := i + f.numbers.below(n-i)
		f.entries[i], f.entries[j] = f.entries[j], f.entries[i]
		f.swapped[i] = j
	}
	f.done = max(f.done, hi)
	return append(dst, f.entries[lo:hi]...)
}
