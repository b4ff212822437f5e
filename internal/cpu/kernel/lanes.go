// Package kernel holds the plain loops of the CPU engine that need no vector
// form: small functions over slices, the destination first and setting the
// length. What runs hot is in package simd.
package kernel

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
