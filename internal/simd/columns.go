package simd

// Columns32 copies the first count columns of the rows that index picks to vectors of
// n lanes, n a multiple of eight: dst[i·n+b] is table[index[b]·stride+i]. Of the row
// that comes 64 after it in index, which may be longer than n, the first fetch bytes
// are prefetched.
func Columns32(dst []float64, n, count int, table []float32, stride int, index []uint32, fetch int) {
	if checkColumns(dst, n, count, index) {
		active.columns32(dst, n, count, table, stride, index, fetch)
	}
}

// Columns64 is Columns32 for rows of float64, without prefetching.
func Columns64(dst []float64, n, count int, table []float64, stride int, index []uint32) {
	if checkColumns(dst, n, count, index) {
		active.columns64(dst, n, count, table, stride, index, 0)
	}
}

// checkColumns reports whether there is anything to copy.
func checkColumns(dst []float64, n, count int, index []uint32) bool {
	if n%8 != 0 || len(dst) < n*count || len(index) < n {
		panic("simd: columns of a number of rows that is no multiple of eight, or too few of them")
	}
	return n > 0 && count > 0
}

func columns[T float32 | float64](dst []float64, n, count int, table []T, stride int, index []uint32, _ int) {
	for b, k := range index[:n] {
		for i, x := range table[int(k)*stride:][:count] {
			dst[i*n+b] = float64(x)
		}
	}
}
