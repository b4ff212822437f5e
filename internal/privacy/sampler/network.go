package sampler

import "d3p/internal/privacy/noise"

// networkSubsets draws pseudorandom subsets of [0, n): the images of 0, ..., k-1 under a
// Feistel network with a fresh key in every step. So a device draws all members at the same
// time. To tell the subsets from uniform ones an attacker must tell AES-256 from random
// functions, or a network of such functions from a random permutation.
type networkSubsets struct{ *feistel }

func newNetworkSubsets(n int, src *noise.Stream) networkSubsets {
	return networkSubsets{newFeistel(n, src)}
}

func (s networkSubsets) draw(dst []uint32, step uint64, k int) []uint32 {
	if k == 0 {
		return dst
	}
	s.renew(step)
	return s.outputs(dst, 0, k)
}

// A Network lets a device draw batches by itself: batch t is the images of 0, ...,
// Size(t)-1 under the Feistel network of step t. It is as secret as the batches.
type Network struct {
	Records     uint32 // n
	Left, Right int    // lengths of the halves in bits
	Words       int    // 16-bit words of all rounds' tables: round by round, Right first
	// Stream has the tables, from block Block of a step on.
	Stream *noise.Stream
	Block  uint64
	Size   func(t int) int // not for several goroutines
}

// networkOf is nil unless the subsets come from a network.
func networkOf(s subsets, size func(t int) int) *Network {
	n, ok := s.(networkSubsets)
	if !ok {
		return nil
	}
	return &Network{n.n, n.left, n.right, len(n.table), n.src, permutationBlock, size}
}
