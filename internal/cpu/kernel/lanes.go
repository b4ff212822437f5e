// Package kernel holds the plain loops of the CPU engine that need no vector
// form: small functions over slices, the destination first and setting the
// length. What runs hot is in package simd.
package kernel

import (
	"math"

	"d3p/internal/simd"
)

// Where sets dst to b where a is not 0, else to c.
func Where(dst, a, b, c []float64) {
	a, b, c = a[:len(dst)], b[:len(dst)], c[:len(dst)]
	for i := range dst {
		if a[i] != 0 {
			dst[i] = b[i]
		} else {
			dst[i] = c[i]
		}
	}
}

// Fill sets every element of dst to s.
func Fill(dst []float64, s float64) {
	for i := range dst {
		dst[i] = s
	}
}

// MaxTo sets dst to max(dst, a), lane by lane; NaN wins.
func MaxTo(dst, a []float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = max(dst[i], a[i])
	}
}

// Relu sets dst to max(a, 0); NaN stays NaN.
func Relu(dst, a []float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = max(a[i], 0)
	}
}

// block is how many elements Tanh keeps in the first-level cache.
const block = 128

// Tanh sets dst to the hyperbolic tangent of a, to 2e-16 of 1: by the library's
// expm1 near zero, where the quotient of exponentials cancels, else as
// 1 - 2/(1 + exp(2a)). dst must not be a.
func Tanh(dst, a []float64) {
	const near = 0.5
	for len(dst) > 0 {
		n := min(len(dst), block)
		d, x := dst[:n], a[:n]
		simd.Add(d, x, x)
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
