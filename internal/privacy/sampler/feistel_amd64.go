//go:build !purego

package sampler

import "golang.org/x/sys/cpu"

// permuteFast takes the first values through the network with gathers, 32 at a time, and
// returns their number.
func (f *feistel) permuteFast(values []uint32) int {
	n := len(values) &^ 31
	if n == 0 || !cpu.X86.HasAVX512F {
		return 0
	}
	permuteAVX512(&values[0], n, &f.table[0], len(f.rounds), uint64(f.left), uint64(f.right))
	return n
}

// permuteAVX512 is permute for n > 0 values, a multiple of 32. It reads one word
// beyond the table.
//
//go:noescape
func permuteAVX512(values *uint32, n int, table *uint16, pairs int, left, right uint64)
