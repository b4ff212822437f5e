package simd

import (
	"slices"
	"testing"
)

// Every instruction set gives the bits of the plain form and reads nothing beyond the
// last place of the last element.
func TestLaneProducts(t *testing.T) {
	forms(t, func(t *testing.T, k *kernels) {
		for _, side := range []int{1, 4} {
			for _, count := range []int{1, 2, 3, 17} {
				x, y := atEnd(t, normals(8*side*count, 1)), atEnd(t, normals(8*side*count, 2))
				want, got := normals(8*side*side, 3), atEnd(t, normals(8*side*side, 3))
				plain.products(side)(want, x, y, count)
				k.products(side)(got, x, y, count)
				equal(t, "products of lanes", got, want)

				const tiles = 3
				place := 8 + count
				step := (side*tiles + 1) * place
				far := atEnd(t, normals((count-1)*step+(side*tiles-1)*place+8, 4))
				tall := count + 1
				size := 8 * side * ((tiles-1)*tall + count)
				want, got = normals(size, 5), atEnd(t, normals(size, 5))
				plain.packLanes(want, far, side, tiles, tall, place, step, count)
				k.packLanes(got, far, side, tiles, tall, place, step, count)
				equal(t, "packed lanes", got, want)
			}
		}
	})
}

// The plain form adds the products of places.
func TestPlainLaneProducts(t *testing.T) {
	const side, place, step, count = 4, 16, 150, 3
	x, y := normals(count*step, 1), normals(count*step, 2)
	start := normals(8*side*side, 3)
	packed := [2][]float64{make([]float64, 16*side*count), make([]float64, 16*side*count)}
	packLanes(packed[0], x, side, 2, count, place, step, count)
	packLanes(packed[1], y, side, 2, count, place, step, count)
	got := slices.Clone(start)
	plain.products(side)(got, packed[0], packed[1][8*side*count:], count)
	for i := range side {
		for j := range side {
			for b := range 8 {
				at := (side*i+j)*8 + b
				want := start[at]
				for k := range count {
					want += x[k*step+i*place+b] * y[k*step+(side+j)*place+b]
				}
				if got[at]-want > 1e-14 || want-got[at] > 1e-14 {
					t.Fatalf("places %d and %d, lane %d: %g, want %g", i, j, b, got[at], want)
				}
			}
		}
	}
}
