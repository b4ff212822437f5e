package kernel

import (
	"math"

	"d3p/internal/simd"
)

// Block is the length that kernels with a second result work at a time.
const Block = 128

// Sigmoid sets dst to 1/(1+exp(-a)), to 3 ulp; unused has length Block.
func Sigmoid(dst, a, unused []float64) {
	for len(dst) > 0 {
		n := min(len(dst), Block)
		simd.SoftplusSigmoid(unused[:n], dst[:n], a[:n])
		dst, a = dst[n:], a[n:]
	}
}

// Softplus sets dst to log(1+exp(a)), to 3 ulp; unused has length Block.
func Softplus(dst, a, unused []float64) {
	for len(dst) > 0 {
		n := min(len(dst), Block)
		simd.SoftplusSigmoid(dst[:n], unused[:n], a[:n])
		dst, a = dst[n:], a[n:]
	}
}

// Tanh sets dst to the hyperbolic tangent of a, to 2e-16 of 1: by the library's
// expm1 near zero, where the quotient of exponentials cancels, else as
// 1 - 2/(1 + exp(2a)).
func Tanh(dst, a []float64) {
	const near = 0.5
	for len(dst) > 0 {
		n := min(len(dst), Block)
		d, x := dst[:n], a[:n]
		for i, v := range x {
			d[i] = 2 * v
		}
		simd.Exp(d, d)
		for i, e := range d {
			if v := x[i]; v > -near && v < near {
				d[i] = math.Tanh(v)
			} else {
				d[i] = 1 - 2/(1+e)
			}
		}
		dst, a = dst[n:], a[n:]
	}
}
