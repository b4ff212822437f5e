package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestUnpack(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	forms(t, func(t *testing.T, k *kernels) {
		for _, count := range []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 31, 33, 100} {
			const n, records = 37, 100
			index := make([]uint32, records)
			for i := range index {
				index[i] = rng.Uint32N(n)
			}
			index[5] = n - 1 // which ends where memory ends
			for _, at := range []int{0, 3, 4, 9} {
				for _, bytes := range []bool{true, false} {
					one, other, size := plain.unpack8, k.unpack8, 1
					if !bytes {
						one, other, size = plain.unpack32, k.unpack32, 4
						at = at / 4 * 4
					}
					stride := (at + size*count + 3) / 4
					table := make([]float32, n*stride)
					for i := range Bytes(table) {
						Bytes(table)[i] = byte(rng.Uint32())
					}
					if !bytes {
						for i := range table {
							table[i] = float32(rng.NormFloat64())
						}
					}
					table = atEnd(t, table)
					pitch := count + 2
					for _, rows := range []int{0, 1, 20, records} {
						for _, fetch := range []int{0, 4 * stride} {
							want := make([]float32, max(0, (rows-1)*pitch+count))
							got := atEnd(t, make([]float32, len(want)))
							one(want, pitch, rows, count, table, stride, at, index, fetch)
							other(got, pitch, rows, count, table, stride, at, index, fetch)
							for i := range want {
								if got[i] != want[i] {
									t.Fatalf("bytes %v, %d numbers from %d: number %d is %g, plain %g", bytes, count, at, i, got[i], want[i])
								}
							}
						}
					}
				}
			}
		}
	})
}

func TestUnpack16(t *testing.T) {
	table := make([]float32, 30)
	for i := range Bytes(table) {
		Bytes(table)[i] = byte(7 * i)
	}
	dst := make([]float32, 9)
	Unpack16(dst, 4, 3, table, 3, 5, []uint32{9, 0, 4})
	for b, k := range []int{9, 0, 4} {
		if low, high := byte(7*(12*k+5)), byte(7*(12*k+6)); dst[4*b] != float32(low)+256*float32(high) {
			t.Errorf("row %d: %g", k, dst[4*b])
		}
	}
	numbers := make([]float32, 1<<16)
	for i := range numbers {
		numbers[i] = float32(-i)
	}
	want := []float32{-dst[0], 0, 0, 0, -dst[4], 0, 0, 0, -dst[8]}
	LookUp(dst, 4, 3, numbers)
	if !slices.Equal(dst, want) {
		t.Errorf("looked up %v, want %v", dst, want)
	}
}
