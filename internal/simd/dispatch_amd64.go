package simd

import "golang.org/x/sys/cpu"

//go:generate go run -C gen . -out ../kernels_amd64.s -stubs ../kernels_amd64.go -pkg simd

// level is the instruction set in use, decided once.
var level = detect()

const (
	plain = iota
	withAVX2
	withAVX512
)

func detect() int {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL:
		return withAVX512
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return withAVX2
	}
	return plain
}

// The vector forms process the first n elements, a positive multiple of
// eight, and return how many they have done: n, or 0 without the instructions.

func expVector(dst, x []float64, n int) int {
	switch level {
	case withAVX512:
		expAVX512(&dst[0], &x[0], n)
	case withAVX2:
		expAVX2(&dst[0], &x[0], n)
	default:
		return 0
	}
	return n
}

func logVector(dst, x []float64, n int) int {
	switch level {
	case withAVX512:
		logAVX512(&dst[0], &x[0], n)
	case withAVX2:
		logAVX2(&dst[0], &x[0], n)
	default:
		return 0
	}
	return n
}

func softplusSigmoidVector(softplus, sigmoid, x []float64, n int) int {
	switch level {
	case withAVX512:
		softplusSigmoidAVX512(&softplus[0], &sigmoid[0], &x[0], n)
	case withAVX2:
		softplusSigmoidAVX2(&softplus[0], &sigmoid[0], &x[0], n)
	default:
		return 0
	}
	return n
}

func axpyVector(dst []float64, a float64, x []float64, n int) int {
	switch level {
	case withAVX512:
		axpyAVX512(&dst[0], a, &x[0], n)
	case withAVX2:
		axpyAVX2(&dst[0], a, &x[0], n)
	default:
		return 0
	}
	return n
}
