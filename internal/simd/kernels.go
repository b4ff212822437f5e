package simd

// kernels is one implementation of everything: the plain one, or assembly for
// an instruction set. Lengths are checked before; a destination may be empty.
type kernels struct {
	name string

	exp, lgamma, digamma func(dst, x []float64)

	add, sub, mul, addProduct func(dst, a, b []float64)

	addScalar, mulScalar, axpy func(dst, a []float64, s float64)

	sum      func(a []float64) float64
	dot      func(a, b []float64) float64
	clipFlat func(factor, norm2 []float64, c float64) (beyond, total float64)

	adam     func(x, grad, first, second []float64, beta1, rest1, beta2, rest2, unbias1, unbias2, epsilon, rate float64)
	adamGain func(x, grad, first, second, gain []float64, beta1, rest1, beta2, rest2, unbias1, unbias2, epsilon, rate float64)

	rowDots32 func(dst, w []float64, table []float32, stride int, index []uint32, fetch int)
	rowDots64 func(dst, w, table []float64, stride int, index []uint32, fetch int)
	rowSum32  func(sum, w []float64, table []float32, stride int, index []uint32)
	rowSum64  func(sum, w, table []float64, stride int, index []uint32)
	columns32 func(dst []float64, n, count int, table []float32, stride int, index []uint32, fetch int)
	columns64 func(dst []float64, n, count int, table []float64, stride int, index []uint32, fetch int)

	unpack8  func(dst []float32, pitch, n, count int, table []float32, stride, at int, index []uint32, fetch int)
	unpack32 func(dst []float32, pitch, n, count int, table []float32, stride, at int, index []uint32, fetch int)

	fourLanes       func(dst []float64, stride int, x []float64, step, count int, factor []float64) // scaledTranspose of a multiple of four
	scaledTranspose func(dst []float64, stride int, x []float64, step, count int, factor []float64)

	packLanes                    func(dst, x []float64, side, tiles, tall, place, step, count int)
	laneProducts1, laneProducts4 func(dst, x, y []float64, count int)

	narrow func(dst []float32, x []float64)
	widen  func(dst []float64, x []float32)

	tiles64 tiles[float64]
	tiles32 tiles[float32]
}

// active is the implementation that this machine runs.
var active = implementations()[0]

// plain is the reference, and the fallback.
var plain = &kernels{
	name: "plain",
	exp:  each(expOne), lgamma: each(lgammaOne), digamma: each(digammaOne),
	add: add, sub: sub, mul: mul, addProduct: addProduct,
	addScalar: addScalar, mulScalar: mulScalar, axpy: axpy,
	sum: sum, dot: dot, clipFlat: clipFlat, adam: adam, adamGain: adamGain,
	rowDots32: rowDots[float32], rowDots64: rowDots[float64], rowSum32: rowSum[float32], rowSum64: rowSum[float64],
	columns32: columns[float32], columns64: columns[float64], unpack8: unpack8, unpack32: unpack32,
	fourLanes: scaledTranspose, scaledTranspose: scaledTranspose, packLanes: packLanes, laneProducts1: laneProducts(1), laneProducts4: laneProducts(4), narrow: narrow, widen: widen,
	tiles64: tiles[float64]{axpy: axpy}, tiles32: tiles[float32]{axpy: axpy32},
}
