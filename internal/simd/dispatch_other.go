//go:build !amd64

package simd

// implementations lists what this machine can run, best first.
func implementations() []*kernels { return []*kernels{plain} }
