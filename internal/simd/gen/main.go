// Command gen writes the assembly of package simd: AVX2 and AVX-512 forms of
// each kernel, or of the interpreter of programs, from one description.
//
//	go run . -part kernels -out ../kernels_amd64.s -stubs ../kernels_amd64.go -pkg simd
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	part := flag.String("part", "kernels", "what to write: kernels or program")
	flag.Parse()
	ConstraintExpr("amd64")
	switch *part {
	case "kernels":
		kernels()
	case "program":
		program(newAVX2(double))
		program(newAVX512(double))
	default:
		panic("no part " + *part)
	}
	Generate()
}

func kernels() {
	for _, isa := range []isa{newAVX2(double), newAVX512(double)} {
		elementwise(isa)
		reductions(isa)
		clipFlat(isa)
		adam(isa)
		for _, size := range []int{4, 8} {
			rowDots(isa, size)
			rowSum(isa, size)
		}
		columns32(isa)
		columns64(isa)
		scaledTranspose(isa)
		packLanes(isa)
		laneProducts(isa, 1)
		laneProducts(isa, 4)
		unpack(isa, 8)
		unpack(isa, 32)
		gemm(isa)
	}
	for _, isa := range []isa{newAVX2(single), newAVX512(single)} {
		gemm(isa)
	}
}
