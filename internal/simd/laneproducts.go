package simd

import "math"

// LaneProducts sets dst[(side·i+j)·8+b] to the sum over k < count of
// x[k·xStep+i·place+b]·y[k·yStep+j·place+b], for i, j < side and b < 8: the inner products
// of `side` places with as many others, in eight lanes. side is 4 or 1. Each sum is a
// chain of fused multiply-adds in order of k.
func LaneProducts(dst, x, y []float64, side, place, xStep, yStep, count int) {
	if side != 1 && side != 4 {
		panic("simd: LaneProducts takes one place or four")
	}
	if count == 0 {
		clear(dst[:8*side*side])
		return
	}
	// the last elements exist
	last := (side-1)*place + 7
	_, _, _ = dst[8*side*side-1], x[(count-1)*xStep+last], y[(count-1)*yStep+last]
	active.products(side)(dst, x, y, place, xStep, yStep, count)
}

func (k *kernels) products(side int) func(dst, x, y []float64, place, xStep, yStep, count int) {
	if side == 1 {
		return k.laneProducts1
	}
	return k.laneProducts4
}

// laneProducts is LaneProducts in plain Go.
func laneProducts(side int) func(dst, x, y []float64, place, xStep, yStep, count int) {
	return func(dst, x, y []float64, place, xStep, yStep, count int) {
		clear(dst[:8*side*side])
		for k := range count {
			for i := range side {
				a := x[k*xStep+i*place:][:8]
				for j := range side {
					b, sum := y[k*yStep+j*place:][:8], dst[8*(side*i+j):][:8]
					for lane := range sum {
						sum[lane] = math.FMA(a[lane], b[lane], sum[lane])
					}
				}
			}
		}
	}
}
