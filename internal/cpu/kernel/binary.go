// Package kernel holds the loops of the CPU engine: small functions over
// slices, one loop each, the destination first and setting the length. They are
// the reference for faster versions and know nothing of tapes.
//
// In names, V is an operand with one value per lane and S a scalar:
//
//	element-wise  AddVV AddVS SubVV SubVS SubSV MulVV MulVS DivVV DivVS DivSV
//	              Neg Square Reciprocal Exp Log Sigmoid Softplus ...
//	reductions    Dot SumSquares
//	accumulation  AddTo AddProductTo MaxTo Axpy
//	rows          RowDot RowAxpy Column (generic over float32 and float64)
package kernel

// AddVV sets dst to a + b.
func AddVV(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

// AddVS sets dst to a + s.
func AddVS(dst, a []float64, s float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = a[i] + s
	}
}

// SubVV sets dst to a - b.
func SubVV(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
}

// SubVS sets dst to a - s.
func SubVS(dst, a []float64, s float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = a[i] - s
	}
}

// SubSV sets dst to s - b.
func SubSV(dst []float64, s float64, b []float64) {
	b = b[:len(dst)]
	for i := range dst {
		dst[i] = s - b[i]
	}
}

// MulVV sets dst to a · b.
func MulVV(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] * b[i]
	}
}

// MulVS sets dst to a · s.
func MulVS(dst, a []float64, s float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = a[i] * s
	}
}

// DivVV sets dst to a / b.
func DivVV(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] / b[i]
	}
}

// DivVS sets dst to a / s.
func DivVS(dst, a []float64, s float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = a[i] / s
	}
}

// DivSV sets dst to s / b.
func DivSV(dst []float64, s float64, b []float64) {
	b = b[:len(dst)]
	for i := range dst {
		dst[i] = s / b[i]
	}
}

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
