package sampler

import (
	"slices"

	"d3p/internal/privacy/noise"
)

// fisherYates is an exactly uniform permutation of fewer than 2^16 records, computed up to
// the last output in use. Between steps it restores only the entries that moved, so a step
// costs as much as its outputs, and each step starts from the identity.
type fisherYates struct {
	numbers  bounded
	identity []uint16
	entries  []uint16 // [:done] are final
	swapped  []uint16 // where entry i < done came from
	done     int
}

func newFisherYates(n int, src *noise.Stream) *fisherYates {
	f := &fisherYates{
		numbers:  newBounded(src),
		identity: make([]uint16, n),
		entries:  make([]uint16, n),
		swapped:  make([]uint16, n),
	}
	for i := range f.identity {
		f.identity[i] = uint16(i)
	}
	copy(f.entries, f.identity)
	f.numbers.seek(0)
	return f
}

func (f *fisherYates) renew(step uint64) {
	copy(f.entries, f.identity[:f.done])
	entries := f.entries
	for _, j := range f.swapped[:f.done] {
		entries[j] = j
	}
	f.done = 0
	f.numbers.seek(step)
}

func (f *fisherYates) outputs(dst []uint32, lo, hi int) []uint32 {
	f.extend(hi)
	at := len(dst)
	dst = slices.Grow(dst, hi-lo)[:at+hi-lo]
	out := dst[at:]
	for i, v := range f.entries[lo:hi] {
		out[i] = uint32(v)
	}
	return dst
}

// extend makes the first hi entries final.
func (f *fisherYates) extend(hi int) {
	for f.done < hi {
		open := f.entries[f.done:]
		numbers := f.numbers.next(min(hi-f.done, len(f.numbers.words)), uint32(len(open)), 1)
		swapped := f.swapped[f.done:][:len(numbers)]
		for i, r := range numbers {
			j := i + int(r)
			swapped[i] = uint16(f.done + j)
			open[i], open[j] = open[j], open[i]
		}
		f.done += len(numbers)
	}
}
