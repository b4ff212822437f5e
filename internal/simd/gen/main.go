// Command gen writes the assembly of package simd: AVX2 and AVX-512 forms of
// each kernel from one description.
//
//	go run . -out ../kernels_amd64.s -stubs ../kernels_amd64.go -pkg simd
package main

import (
	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("amd64")
	for _, isa := range []isa{newAVX2(double), newAVX512(double)} {
		elementwise(isa)
		reductions(isa)
		clipFlat(isa)
		adam(isa)
		for _, size := range []int{4, 8} {
			rowDots(isa, size)
			rowSum(isa, size)
		}
		gemm(isa)
	}
	for _, isa := range []isa{newAVX2(single), newAVX512(single)} {
		gemm(isa)
	}
	Generate()
}
