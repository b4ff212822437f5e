// Package kernel holds transpositions of lanes. What else runs hot is in
// package simd.
package kernel

// Transpose sets dst, [n × count], to the transpose of lanes, [count × n].
func Transpose(dst, lanes []float64, n int) { Turn(dst, lanes, n, 1) }

// Turn sets dst to the transposes of n matrices of width columns, one after the
// other: element (i, w) of matrix b is lanes[(i·width + w)·n + b] and goes to
// row w, column i. It fills a cache line of dst at a time.
func Turn(dst, lanes []float64, n, width int) {
	const side = 8
	rows, step := len(lanes)/(n*width), width*n
	lo := 0
	for ; lo+side <= rows; lo += side {
		for w := range width {
			at := lo*step + w*n
			a, b, c, d := lanes[at:][:n], lanes[at+step:][:n], lanes[at+2*step:][:n], lanes[at+3*step:][:n]
			at += 4 * step
			e, f, g, h := lanes[at:][:n], lanes[at+step:][:n], lanes[at+2*step:][:n], lanes[at+3*step:][:n]
			for i := range n {
				row := dst[(i*width+w)*rows+lo:][:side]
				row[0], row[1], row[2], row[3] = a[i], b[i], c[i], d[i]
				row[4], row[5], row[6], row[7] = e[i], f[i], g[i], h[i]
			}
		}
	}
	for ; lo < rows; lo++ {
		for w := range width {
			for i, x := range lanes[lo*step+w*n:][:n] {
				dst[(i*width+w)*rows+lo] = x
			}
		}
	}
}
