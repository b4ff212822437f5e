//go:build !amd64 || purego

package sampler

// permuteFast takes no values where there is no assembly.
func (f *feistel) permuteFast([]uint32) int { return 0 }
