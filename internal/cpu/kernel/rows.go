package kernel

import "d3p/internal/simd"

// Real is a width in which rows are stored. Arithmetic is float64 in both.
type Real interface{ float32 | float64 }

// RowDot returns Σ w·x for a stored row x, in the shape of Dot.
func RowDot[T Real](w []float64, x []T) float64 {
	x = x[:len(w)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(w); i += 4 {
		u, v := w[i:i+4:i+4], x[i:i+4:i+4]
		s0 += u[0] * float64(v[0])
		s1 += u[1] * float64(v[1])
		s2 += u[2] * float64(v[2])
		s3 += u[3] * float64(v[3])
	}
	s := (s0 + s1) + (s2 + s3)
	for ; i < len(w); i++ {
		s += w[i] * float64(x[i])
	}
	return s
}

// RowAxpy adds s · x to dst for a stored row x. Long float64 rows go through the
// vector kernel, whose results do not depend on the machine either.
func RowAxpy[T Real](dst []float64, s float64, x []T) {
	x = x[:len(dst)]
	if wide, ok := any(x).([]float64); ok && len(dst) >= vectorLength {
		simd.Axpy(dst, s, wide)
		return
	}
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		d, v := dst[i:i+4:i+4], x[i:i+4:i+4]
		d[0] += s * float64(v[0])
		d[1] += s * float64(v[1])
		d[2] += s * float64(v[2])
		d[3] += s * float64(v[3])
	}
	for ; i < len(dst); i++ {
		dst[i] += s * float64(x[i])
	}
}

// vectorLength is the length from which a call of a vector kernel pays.
const vectorLength = 16

// Column sets dst[b] to column j of the batch's b-th record: rows are stride
// apart, starting at first, or chosen by index where it is not nil.
func Column[T Real](dst []float64, rows []T, stride, j, first int, index []uint32) {
	if index == nil {
		at := first*stride + j
		for b := range dst {
			dst[b] = float64(rows[at])
			at += stride
		}
		return
	}
	index = index[:len(dst)]
	for b := range dst {
		dst[b] = float64(rows[int(index[b])*stride+j])
	}
}
