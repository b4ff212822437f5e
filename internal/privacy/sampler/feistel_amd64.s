//go:build !purego

#include "textflag.h"

// func permuteAVX512(values *uint32, n int, table *uint16, pairs int, left, right uint64)
//
// Two groups of 16 values are in flight: Z0, Z2 left halves, Z1, Z3 right ones.
TEXT ·permuteAVX512(SB), NOSPLIT, $0-48
	MOVQ values+0(FP), DI
	MOVQ n+8(FP), DX
	MOVQ left+32(FP), CX
	MOVL $1, R8
	SHLQ CX, R8                // entries of an odd table
	LEAL -1(R8), AX
	VPBROADCASTD AX, Z16       // mask of a left half
	MOVQ right+40(FP), CX
	MOVQ CX, X15               // shift
	MOVL $1, R9
	SHLQ CX, R9                // entries of an even table
	LEAL -1(R9), AX
	VPBROADCASTD AX, Z17       // mask of a right half

group:
	VMOVDQU32 (DI), Z1
	VMOVDQU32 64(DI), Z3
	VPSRLD X15, Z1, Z0
	VPSRLD X15, Z3, Z2
	MOVQ table+16(FP), SI
	MOVQ pairs+24(FP), BX

pair:
	VPANDD Z17, Z1, Z5
	VPANDD Z17, Z3, Z7
	KXNORW K1, K1, K1
	KXNORW K2, K2, K2
	VPXORD Z4, Z4, Z4
	VPXORD Z6, Z6, Z6
	VPGATHERDD (SI)(Z5*2), K1, Z4
	VPGATHERDD (SI)(Z7*2), K2, Z6
	LEAQ (SI)(R9*2), SI
	VPXORD Z4, Z0, Z0
	VPXORD Z6, Z2, Z2
	VPANDD Z16, Z0, Z5
	VPANDD Z16, Z2, Z7
	KXNORW K1, K1, K1
	KXNORW K2, K2, K2
	VPXORD Z4, Z4, Z4
	VPXORD Z6, Z6, Z6
	VPGATHERDD (SI)(Z5*2), K1, Z4
	VPGATHERDD (SI)(Z7*2), K2, Z6
	LEAQ (SI)(R8*2), SI
	VPXORD Z4, Z1, Z1
	VPXORD Z6, Z3, Z3
	DECQ BX
	JNE  pair

	VPANDD Z16, Z0, Z0
	VPANDD Z16, Z2, Z2
	VPANDD Z17, Z1, Z1
	VPANDD Z17, Z3, Z3
	VPSLLD X15, Z0, Z0
	VPSLLD X15, Z2, Z2
	VPORD Z1, Z0, Z0
	VPORD Z3, Z2, Z2
	VMOVDQU32 Z0, (DI)
	VMOVDQU32 Z2, 64(DI)
	ADDQ $128, DI
	SUBQ $32, DX
	JNE  group
	VZEROUPPER
	RET
