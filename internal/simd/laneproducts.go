package simd

import "math"

// PackLanes sets dst[((j·tall+k)·side+i)·8+b] to x[k·step+(j·side+i)·place+b] for i < side,
// j < tiles, b < 8 and k < count <= tall: eight lanes of side·tiles places, as LaneProducts
// reads them.
func PackLanes(dst, x []float64, side, tiles, tall, place, step, count int) {
	if side < 1 || tiles < 1 || count < 1 {
		return
	}
	// the last elements exist
	_, _ = dst[8*side*((tiles-1)*tall+count)-1], x[(count-1)*step+(side*tiles-1)*place+7]
	active.packLanes(dst, x, side, tiles, tall, place, step, count)
}

// packLanes is PackLanes in plain Go.
func packLanes(dst, x []float64, side, tiles, tall, place, step, count int) {
	for j := range tiles {
		for k := range count {
			for i := range side {
				copy(dst[8*((j*tall+k)*side+i):][:8], x[k*step+(j*side+i)*place:])
			}
		}
	}
}

// LaneProducts adds x[(side·k+i)·8+b]·y[(side·k+j)·8+b] for k < count, in this order and
// each with one rounding, to dst[(side·i+j)·8+b], for i, j < side and b < 8: the inner
// products of `side` places with as many others, in eight lanes. side is 4 or 1.
func LaneProducts(dst, x, y []float64, side, count int) {
	if side != 1 && side != 4 {
		panic("simd: LaneProducts takes one place or four")
	}
	if count < 1 {
		return
	}
	// the last elements exist
	_, _, _ = dst[8*side*side-1], x[8*side*count-1], y[8*side*count-1]
	active.products(side)(dst, x, y, count)
}

func (k *kernels) products(side int) func(dst, x, y []float64, count int) {
	if side == 1 {
		return k.laneProducts1
	}
	return k.laneProducts4
}

// laneProducts is LaneProducts in plain Go.
func laneProducts(side int) func(dst, x, y []float64, count int) {
	return func(dst, x, y []float64, count int) {
		for k := range count {
			for i := range side {
				a := x[8*(side*k+i):][:8]
				for j := range side {
					b, sum := y[8*(side*k+j):][:8], dst[8*(side*i+j):][:8]
					for lane := range sum {
						sum[lane] = math.FMA(a[lane], b[lane], sum[lane])
					}
				}
			}
		}
	}
}
