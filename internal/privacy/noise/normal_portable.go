//go:build !amd64 || purego

package noise

// boxMullerFast is absent where there is no assembly.
func boxMullerFast([]float64) bool { return false }
