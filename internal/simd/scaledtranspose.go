package simd

// ScaledTranspose sets dst[b·stride+j] to x[j·step+b]·factor[b] for j < count and
// every b of factor, whose length is a multiple of four, best of eight: lanes become scaled rows.
func ScaledTranspose(dst []float64, stride int, x []float64, step, count int, factor []float64) {
	if len(factor)%4 != 0 {
		panic("simd: the number of lanes is no multiple of four")
	}
	if count == 0 || len(factor) == 0 {
		return
	}
	// the last elements exist
	_ = dst[(len(factor)-1)*stride+count-1]
	_ = x[(count-1)*step+len(factor)-1]
	if len(factor)%8 != 0 {
		active.fourLanes(dst, stride, x, step, count, factor)
		return
	}
	active.scaledTranspose(dst, stride, x, step, count, factor)
}

// scaledTranspose fills a cache line of dst at a time.
func scaledTranspose(dst []float64, stride int, x []float64, step, count int, factor []float64) {
	const side = 8
	for lo := 0; lo < count; lo += side {
		for b, f := range factor {
			row := dst[b*stride+lo:][:min(side, count-lo)]
			for j := range row {
				row[j] = x[(lo+j)*step+b] * f
			}
		}
	}
}
