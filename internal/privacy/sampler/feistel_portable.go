//go:build !amd64 || purego

package sampler

// permuteFast takes no values without assembly.
func (f *feistel) permuteFast([]uint32) int { return 0 }
