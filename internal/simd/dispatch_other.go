//go:build !amd64

package simd

// implementations lists the implementations that this machine can run, best first.
func implementations() []*kernels { return []*kernels{plain} }
