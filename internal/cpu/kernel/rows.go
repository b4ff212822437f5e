// Package kernel holds transpositions of lanes. What else runs hot is in
// package simd.
package kernel

// Transpose sets dst, [n × count], to the transpose of lanes, [count × n].
func Transpose(dst, lanes []float64, n int) {
	count := len(lanes) / n
	const side = 8
	for lo := 0; lo < count; lo += side {
		hi := min(lo+side, count)
		for b := range n {
			row := dst[b*count:][:count]
			at := lo*n + b
			for i := lo; i < hi; i++ {
				row[i] = lanes[at]
				at += n
			}
		}
	}
}

// Turn sets dst to the transposes of n matrices of width columns, one after the
// other: element (i, w) of matrix b is lanes[(i·width + w)·n + b] and goes to
// row w, column i.
func Turn(dst, lanes []float64, n, width int) {
	rows := len(lanes) / (n * width)
	const side = 8
	for lo := 0; lo < rows; lo += side {
		hi := min(lo+side, rows)
		for w := range width {
			for b := range n {
				row := dst[(b*width+w)*rows:][:rows]
				for i := lo; i < hi; i++ {
					row[i] = lanes[(i*width+w)*n+b]
				}
			}
		}
	}
}
