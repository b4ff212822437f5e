//go:build !amd64 || purego

package noise

// boxMullerFast is absent where there is no assembly.
func boxMullerFast(_, _ []float64) bool { return false }
