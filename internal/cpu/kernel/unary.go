package kernel

import "math"

// Copy sets dst to a.
func Copy(dst, a []float64) { copy(dst, a[:len(dst)]) }

// Neg sets dst to -a.
func Neg(dst, a []float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = -a[i]
	}
}

// Square sets dst to a².
func Square(dst, a []float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = a[i] * a[i]
	}
}

// Reciprocal sets dst to 1/a.
func Reciprocal(dst, a []float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = 1 / a[i]
	}
}

// Sqrt sets dst to √a.
func Sqrt(dst, a []float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = math.Sqrt(a[i])
	}
}

// Relu sets dst to max(a, 0); NaN stays NaN.
func Relu(dst, a []float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = max(a[i], 0)
	}
}
