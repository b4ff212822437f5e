package kernel

// Real is a width in which rows are stored. Arithmetic is float64 in both.
type Real interface{ float32 | float64 }

// columnBlock is how many lanes are written side by side: they share the
// first-level cache.
const columnBlock = 64

// Columns copies columns of the rows that index picks, stride apart, to lanes:
// column first+i of the b-th record to lanes[i·n + b], n the length of index and
// as many columns as lanes has room for.
func Columns[T Real](lanes []float64, rows []T, stride, first int, index []uint32) {
	n := len(index)
	if len(lanes) == n {
		for b, k := range index {
			lanes[b] = float64(rows[int(k)*stride+first])
		}
		return
	}
	for ; len(lanes) > 0; first += columnBlock {
		count := min(columnBlock, len(lanes)/n)
		for b, k := range index {
			at := b
			for _, x := range rows[int(k)*stride+first:][:count] {
				lanes[at] = float64(x)
				at += n
			}
		}
		lanes = lanes[count*n:]
	}
}

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
