package simd

// A table holds rows of numbers, row i from i·stride. The assembly does not
// check indices: each row that index picks must have as many numbers as are
// used of it.

// RowDots32 sets dst[b] to Σ_j w[j]·table[index[b]·stride+j] in the shape of
// Dot. Of the row that comes 64 after it in index, which may be longer than
// dst, the first fetch bytes are prefetched.
func RowDots32(dst, w []float64, table []float32, stride int, index []uint32, fetch int) {
	_ = index[:len(dst)]
	active.rowDots32(dst, w, table, stride, index, fetch)
}

// RowDots64 is RowDots32 for rows of float64.
func RowDots64(dst, w, table []float64, stride int, index []uint32, fetch int) {
	_ = index[:len(dst)]
	active.rowDots64(dst, w, table, stride, index, fetch)
}

// RowSum32 adds w[b]·table[index[b]·stride+j] to sum[j] for each b in order,
// each with one rounding.
func RowSum32(sum, w []float64, table []float32, stride int, index []uint32) {
	active.rowSum32(sum, w, table, stride, index[:len(w)])
}

// RowSum64 is RowSum32 for rows of float64.
func RowSum64(sum, w, table []float64, stride int, index []uint32) {
	active.rowSum64(sum, w, table, stride, index[:len(w)])
}
