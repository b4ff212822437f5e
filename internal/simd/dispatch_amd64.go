package simd

import "golang.org/x/sys/cpu"

//go:generate go run -C gen . -out ../kernels_amd64.s -stubs ../kernels_amd64.go -pkg simd

// implementations lists the implementations that this machine can run, best first.
func implementations() []*kernels {
	var list []*kernels
	x := &cpu.X86
	if x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL && x.HasBMI2 && x.HasFMA {
		list = append(list, avx512)
	}
	if x.HasAVX2 && x.HasFMA {
		list = append(list, avx2)
	}
	return append(list, plain)
}

var avx512 = &kernels{
	name: "AVX-512",
	exp:  expAVX512, lgamma: lgammaAVX512, digamma: digammaAVX512,
	add: addAVX512, sub: subAVX512, mul: mulAVX512, addProduct: addProductAVX512,
	addScalar: addScalarAVX512, mulScalar: mulScalarAVX512, axpy: axpyAVX512,
	sum: sumAVX512, dot: dotAVX512, clipFlat: clipFlatAVX512, adam: adamAVX512, adamGain: adamGainAVX512,
	rowDots32: rowDots32AVX512, rowDots64: rowDots64AVX512, rowSum32: rowSum32AVX512, rowSum64: rowSum64AVX512,
	columns32: columns32AVX512, columns64: columns64AVX512, unpack8: unpack8AVX512, unpack32: unpack32AVX512,
	fourLanes: scaledTransposeAVX2, scaledTranspose: scaledTransposeAVX512, packLanes: packLanesAVX512, laneProducts1: laneProducts1AVX512, laneProducts4: laneProducts4AVX512, narrow: narrowAVX512, widen: widenAVX512,
	tiles64: tiles[float64]{
		whole: []tile[float64]{{14, tile14x64AVX512}, {8, tile8x64AVX512}, {4, tile4x64AVX512}, {2, tile2x64AVX512}, {1, tile1x64AVX512}},
		cut:   []tile[float64]{{14, cutTile14x64AVX512}, {8, cutTile8x64AVX512}, {4, cutTile4x64AVX512}, {2, cutTile2x64AVX512}, {1, cutTile1x64AVX512}},
		slim:  []tile[float64]{{14, slimTile14x64AVX512}, {8, slimTile8x64AVX512}, {4, slimTile4x64AVX512}, {2, slimTile2x64AVX512}, {1, slimTile1x64AVX512}},
		width: 16, depth: 256,
	},
	tiles32: tiles[float32]{
		whole: []tile[float32]{{14, tile14x32AVX512}, {8, tile8x32AVX512}, {4, tile4x32AVX512}, {2, tile2x32AVX512}, {1, tile1x32AVX512}},
		cut:   []tile[float32]{{14, cutTile14x32AVX512}, {8, cutTile8x32AVX512}, {4, cutTile4x32AVX512}, {2, cutTile2x32AVX512}, {1, cutTile1x32AVX512}},
		slim:  []tile[float32]{{14, slimTile14x32AVX512}, {8, slimTile8x32AVX512}, {4, slimTile4x32AVX512}, {2, slimTile2x32AVX512}, {1, slimTile1x32AVX512}},
		width: 32, depth: 512,
	},
}

var avx2 = &kernels{
	name: "AVX2",
	exp:  expAVX2, lgamma: lgammaAVX2, digamma: digammaAVX2,
	add: addAVX2, sub: subAVX2, mul: mulAVX2, addProduct: addProductAVX2,
	addScalar: addScalarAVX2, mulScalar: mulScalarAVX2, axpy: axpyAVX2,
	sum: sumAVX2, dot: dotAVX2, clipFlat: clipFlatAVX2, adam: adamAVX2, adamGain: adamGainAVX2,
	rowDots32: rowDots32AVX2, rowDots64: rowDots64AVX2, rowSum32: rowSum32AVX2, rowSum64: rowSum64AVX2,
	columns32: columns32AVX2, columns64: columns64AVX2, unpack8: unpack8AVX2, unpack32: unpack32AVX2,
	fourLanes: scaledTransposeAVX2, scaledTranspose: scaledTransposeAVX2, packLanes: packLanesAVX2, laneProducts1: laneProducts1AVX2, laneProducts4: laneProducts4AVX2, narrow: narrowAVX2, widen: widenAVX2,
	tiles64: tiles[float64]{
		whole: []tile[float64]{{6, tile6x64AVX2}, {4, tile4x64AVX2}, {2, tile2x64AVX2}, {1, tile1x64AVX2}},
		cut:   []tile[float64]{{4, cutTile4x64AVX2}, {2, cutTile2x64AVX2}, {1, cutTile1x64AVX2}},
		slim:  []tile[float64]{{6, slimTile6x64AVX2}, {4, slimTile4x64AVX2}, {2, slimTile2x64AVX2}, {1, slimTile1x64AVX2}},
		width: 8, depth: 256,
	},
	tiles32: tiles[float32]{
		whole: []tile[float32]{{6, tile6x32AVX2}, {4, tile4x32AVX2}, {2, tile2x32AVX2}, {1, tile1x32AVX2}},
		cut:   []tile[float32]{{4, cutTile4x32AVX2}, {2, cutTile2x32AVX2}, {1, cutTile1x32AVX2}},
		slim:  []tile[float32]{{6, slimTile6x32AVX2}, {4, slimTile4x32AVX2}, {2, slimTile2x32AVX2}, {1, slimTile1x32AVX2}},
		width: 16, depth: 512,
	},
}
