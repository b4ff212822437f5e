package simd

import "testing"

// Every instruction set gives the bits of the plain form and reads nothing beyond the
// last place of the last element.
func TestLaneProducts(t *testing.T) {
	forms(t, func(t *testing.T, k *kernels) {
		for _, side := range []int{1, 4} {
			for _, count := range []int{1, 2, 3, 17} {
				place := 8 + count
				xStep, yStep := side*place+1, (side+2)*place
				x := atEnd(t, normals((count-1)*xStep+(side-1)*place+8, 1))
				y := atEnd(t, normals((count-1)*yStep+(side-1)*place+8, 2))
				want, got := make([]float64, 8*side*side), atEnd(t, normals(8*side*side, 3))
				plain.products(side)(want, x, y, place, xStep, yStep, count)
				k.products(side)(got, x, y, place, xStep, yStep, count)
				equal(t, "products of lanes", got, want)
			}
		}
	})
}

// The plain form sums the products of places.
func TestPlainLaneProducts(t *testing.T) {
	const side, place, count = 4, 8, 3
	x, y := normals(count*side*place, 1), normals(count*side*place, 2)
	got := make([]float64, 8*side*side)
	plain.products(side)(got, x, y, place, side*place, side*place, count)
	for i := range side {
		for j := range side {
			for b := range 8 {
				want := 0.0
				for k := range count {
					want += x[(k*side+i)*place+b] * y[(k*side+j)*place+b]
				}
				if at := (side*i+j)*8 + b; got[at]-want > 1e-14 || want-got[at] > 1e-14 {
					t.Fatalf("places %d and %d, lane %d: %g, want %g", i, j, b, got[at], want)
				}
			}
		}
	}
}
