package simd

// Columns32 copies the first columns of the rows that index picks to vectors:
// dst[i·n+b] is table[index[b]·stride+i], n the length of index, which is a
// multiple of eight; as many columns as dst has room for.
func Columns32(dst []float64, table []float32, stride int, index []uint32) {
	if count := columnCount(dst, index); count > 0 {
		active.columns32(dst, count, table, stride, index)
	}
}

// Columns64 is Columns32 for rows of float64.
func Columns64(dst, table []float64, stride int, index []uint32) {
	if count := columnCount(dst, index); count > 0 {
		active.columns64(dst, count, table, stride, index)
	}
}

func columnCount(dst []float64, index []uint32) int {
	if len(index)%8 != 0 {
		panic("simd: columns of a number of rows that is no multiple of eight")
	}
	if len(index) == 0 {
		return 0
	}
	return len(dst) / len(index)
}

func columns[T float32 | float64](dst []float64, count int, table []T, stride int, index []uint32) {
	for b, k := range index {
		for i, x := range table[int(k)*stride:][:count] {
			dst[i*len(index)+b] = float64(x)
		}
	}
}
