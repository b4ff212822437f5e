package sampler

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"d3p/internal/stattest"
)

// A subset against its definition, a word of key stream at a time: word i makes
// number i, and one that Lemire's rule rejects is replaced from a place of its own.
func TestSubsetDefinition(t *testing.T) {
	for _, c := range []struct{ n, k int }{
		{1, 1}, {5, 0}, {7, 3}, {7, 4}, {64, 32}, {64, 33}, {65, 65}, {3341, 67}, {100_000, 70_000}, {bitsFrom - 1, 300}, {bitsFrom, 300}, {bitsFrom, bitsFrom - 300}, {3 << 24, 2000},
	} {
		const step = 9
		src, again := stream(14), stream(14)
		src.SeekBlock(step, 1<<32)
		seen := map[uint32]bool{}
		var want []uint32
		for i := uint64(0); len(want) < min(c.k, c.n-c.k); i++ {
			var word [4]byte
			src.Fill(word[:])
			w := uint64(word[0]) | uint64(word[1])<<8 | uint64(word[2])<<16 | uint64(word[3])<<24
			high, low := w*uint64(c.n)>>32, w*uint64(c.n)%(1<<32)
			if low < (1<<32)%uint64(c.n) {
				again.SeekBlock(step, 1<<48+i<<8)
				high = again.Uint64n(uint64(c.n))
			}
			if v := uint32(high); !seen[v] {
				seen[v] = true
				want = append(want, v)
			}
		}
		if c.k > c.n-c.k {
			want = nil
			for i := range uint32(c.n) {
				if !seen[i] {
					want = append(want, i)
				}
			}
		}
		s := newExactSubsets(c.n, stream(14))
		for range 2 { // the second finds no marks of the first
			if got := s.draw([]uint32{77}, step, c.k); got[0] != 77 || !slices.Equal(got[1:], want) {
				t.Errorf("n=%d, k=%d: %d members differ from the definition", c.n, c.k, len(got)-1)
			}
			s.draw(nil, step+1, c.k)
		}
		if left := c.n - len(s.drawn.others(nil, uint32(c.n))); left > 0 {
			t.Errorf("n=%d, k=%d: %d marks are left", c.n, c.k, left)
		}
	}
}

// All subsets of a size are drawn alike, whether it is those in it that are drawn
// or those that are not, and also where numbers are taken in several pieces.
func TestSubsetsAreUniform(t *testing.T) {
	const n, runs = 8, 40000
	for k := 1; k < n; k++ {
		s := newExactSubsets(n, stream(31))
		counts := map[int]int{}
		for step := range uint64(runs) {
			set := 0
			for _, i := range s.draw(nil, step, k) {
				set |= 1 << i
			}
			if bits.OnesCount(uint(set)) != k {
				t.Fatalf("%d of %d: set %b", k, n, set)
			}
			counts[set]++
		}
		var all []int
		for set := range 1 << n {
			if bits.OnesCount(uint(set)) == k {
				all = append(all, counts[set])
			}
		}
		stattest.Require(t, fmt.Sprintf("%d of %d", k, n), stattest.Uniform(all))
	}
}
