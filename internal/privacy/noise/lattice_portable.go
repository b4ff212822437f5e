//go:build !amd64 || purego

package noise

// roundFast is absent where there is no assembly.
func roundFast(x, z, words []float64, p latticeScale) (doubt uint32, done bool) { return 0, false }
