package simd

import "math"

// The plain loops. Every operation is rounded, as in the assembly, except within
// math.FMA.

func each(f func(float64) float64) func(dst, x []float64) {
	return func(dst, x []float64) {
		for i := range dst {
			dst[i] = f(x[i])
		}
	}
}

func add(dst, a, b []float64) {
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

func sub(dst, a, b []float64) {
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
}

func mul(dst, a, b []float64) {
	for i := range dst {
		dst[i] = a[i] * b[i]
	}
}

func addProduct(dst, a, b []float64) {
	for i := range dst {
		dst[i] = math.FMA(a[i], b[i], dst[i])
	}
}

func addScalar(dst, a []float64, s float64) {
	for i := range dst {
		dst[i] = a[i] + s
	}
}

func mulScalar(dst, a []float64, s float64) {
	for i := range dst {
		dst[i] = a[i] * s
	}
}

func axpy(dst, a []float64, s float64) {
	for i := range dst {
		dst[i] = math.FMA(s, a[i], dst[i])
	}
}

func narrow(dst []float32, x []float64) {
	for i := range dst {
		dst[i] = float32(x[i])
	}
}

func widen(dst []float64, x []float32) {
	for i := range dst {
		dst[i] = float64(x[i])
	}
}

func clipFlat(factor, norm2 []float64, c float64) (beyond, total float64) {
	for i := range factor {
		factor[i] = 1
		if norm := math.Sqrt(norm2[i]); !(norm <= c) {
			factor[i] = c / norm
			beyond++
		}
	}
	return beyond, sum(norm2[:len(factor)])
}
