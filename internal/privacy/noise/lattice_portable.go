//go:build !amd64 || purego

package noise

// roundFast is absent where there is no assembly.
func roundFast(x, z, words []float64, p latticeScale) (done, certain bool) { return false, false }
