//go:build !purego

#include "textflag.h"

// func subWord(w uint32) uint32
TEXT ·subWord(SB), NOSPLIT, $0-12
	MOVL w+0(FP), AX
	MOVD AX, X0
	PSHUFD $0, X0, X0
	AESKEYGENASSIST $0, X0, X1 // X1[0] = SubWord(X0[1])
	MOVD X1, AX
	MOVL AX, ret+8(FP)
	RET

// Counter block i of this round in xmm: high in the first 8 bytes, low + i in
// the last 8, both big-endian. R8 = high, byte-swapped; SI = low.
#define COUNTER(i, x) \
	LEAQ   i(SI), R9 \
	BSWAPQ R9        \
	MOVQ   R8, x     \
	PINSRQ $1, R9, x \
	PXOR   X8, x

#define ROUND8(offset) \
	MOVUPS offset(AX), X8 \
	AESENC X8, X0 \
	AESENC X8, X1 \
	AESENC X8, X2 \
	AESENC X8, X3 \
	AESENC X8, X4 \
	AESENC X8, X5 \
	AESENC X8, X6 \
	AESENC X8, X7

#define LAST8 \
	MOVUPS 224(AX), X8 \
	AESENCLAST X8, X0 \
	AESENCLAST X8, X1 \
	AESENCLAST X8, X2 \
	AESENCLAST X8, X3 \
	AESENCLAST X8, X4 \
	AESENCLAST X8, X5 \
	AESENCLAST X8, X6 \
	AESENCLAST X8, X7

#define ROUND1(offset) \
	MOVUPS offset(AX), X8 \
	AESENC X8, X0

// func keystreamAESNI(key *[60]uint32, dst *byte, n int, high, low uint64)
TEXT ·keystreamAESNI(SB), NOSPLIT, $0-40
	MOVQ   key+0(FP), AX
	MOVQ   dst+8(FP), DI
	MOVQ   n+16(FP), CX
	MOVQ   high+24(FP), R8
	MOVQ   low+32(FP), SI
	BSWAPQ R8

eight:
	CMPQ CX, $8
	JLT  one
	MOVUPS (AX), X8
	COUNTER(0, X0)
	COUNTER(1, X1)
	COUNTER(2, X2)
	COUNTER(3, X3)
	COUNTER(4, X4)
	COUNTER(5, X5)
	COUNTER(6, X6)
	COUNTER(7, X7)
	ROUND8(16)
	ROUND8(32)
	ROUND8(48)
	ROUND8(64)
	ROUND8(80)
	ROUND8(96)
	ROUND8(112)
	ROUND8(128)
	ROUND8(144)
	ROUND8(160)
	ROUND8(176)
	ROUND8(192)
	ROUND8(208)
	LAST8
	MOVUPS X0, (DI)
	MOVUPS X1, 16(DI)
	MOVUPS X2, 32(DI)
	MOVUPS X3, 48(DI)
	MOVUPS X4, 64(DI)
	MOVUPS X5, 80(DI)
	MOVUPS X6, 96(DI)
	MOVUPS X7, 112(DI)
	ADDQ   $128, DI
	ADDQ   $8, SI
	SUBQ   $8, CX
	JMP    eight

one:
	TESTQ CX, CX
	JEQ   done
	MOVUPS (AX), X8
	COUNTER(0, X0)
	ROUND1(16)
	ROUND1(32)
	ROUND1(48)
	ROUND1(64)
	ROUND1(80)
	ROUND1(96)
	ROUND1(112)
	ROUND1(128)
	ROUND1(144)
	ROUND1(160)
	ROUND1(176)
	ROUND1(192)
	ROUND1(208)
	MOVUPS 224(AX), X8
	AESENCLAST X8, X0
	MOVUPS X0, (DI)
	ADDQ   $16, DI
	INCQ   SI
	DECQ   CX
	JMP    one

done:
	RET

// Four counters to a zmm, four zmm in flight. Numbers are kept little-endian
// (Z30 for each next zmm: +4) and byte-swapped before use (mask Z29).
#define ROUND16(offset) \
	VBROADCASTI32X4 offset(AX), Z8 \
	VAESENC Z8, Z0, Z0 \
	VAESENC Z8, Z1, Z1 \
	VAESENC Z8, Z2, Z2 \
	VAESENC Z8, Z3, Z3

// func keystreamVAES(key *[60]uint32, dst *byte, n int, high, low uint64)
TEXT ·keystreamVAES(SB), NOSPLIT, $0-40
	MOVQ key+0(FP), AX
	MOVQ dst+8(FP), DI
	MOVQ n+16(FP), CX
	VPBROADCASTQ low+32(FP), Z10
	VPADDQ lanes<>(SB), Z10, Z10 // low, low+1, low+2, low+3 in the odd lanes
	VPBROADCASTQ high+24(FP), Z11
	MOVL $0x55, BX                // the even lanes hold high
	KMOVW BX, K1
	VMOVDQA64 Z11, K1, Z10
	VBROADCASTI32X4 swap<>(SB), Z29
	VMOVDQU64 four<>(SB), Z30

sixteen:
	VBROADCASTI32X4 (AX), Z8
	VPADDQ Z30, Z10, Z11
	VPADDQ Z30, Z11, Z12
	VPADDQ Z30, Z12, Z13
	VPSHUFB Z29, Z10, Z0
	VPSHUFB Z29, Z11, Z1
	VPSHUFB Z29, Z12, Z2
	VPSHUFB Z29, Z13, Z3
	VPADDQ Z30, Z13, Z10
	VPXORQ Z8, Z0, Z0
	VPXORQ Z8, Z1, Z1
	VPXORQ Z8, Z2, Z2
	VPXORQ Z8, Z3, Z3
	ROUND16(16)
	ROUND16(32)
	ROUND16(48)
	ROUND16(64)
	ROUND16(80)
	ROUND16(96)
	ROUND16(112)
	ROUND16(128)
	ROUND16(144)
	ROUND16(160)
	ROUND16(176)
	ROUND16(192)
	ROUND16(208)
	VBROADCASTI32X4 224(AX), Z8
	VAESENCLAST Z8, Z0, Z0
	VAESENCLAST Z8, Z1, Z1
	VAESENCLAST Z8, Z2, Z2
	VAESENCLAST Z8, Z3, Z3
	VMOVDQU64 Z0, (DI)
	VMOVDQU64 Z1, 64(DI)
	VMOVDQU64 Z2, 128(DI)
	VMOVDQU64 Z3, 192(DI)
	ADDQ $256, DI
	SUBQ $16, CX
	JNE  sixteen
	VZEROUPPER
	RET

DATA lanes<>+0(SB)/8, $0
DATA lanes<>+8(SB)/8, $0
DATA lanes<>+16(SB)/8, $0
DATA lanes<>+24(SB)/8, $1
DATA lanes<>+32(SB)/8, $0
DATA lanes<>+40(SB)/8, $2
DATA lanes<>+48(SB)/8, $0
DATA lanes<>+56(SB)/8, $3
GLOBL lanes<>(SB), RODATA|NOPTR, $64

DATA four<>+0(SB)/8, $0
DATA four<>+8(SB)/8, $4
DATA four<>+16(SB)/8, $0
DATA four<>+24(SB)/8, $4
DATA four<>+32(SB)/8, $0
DATA four<>+40(SB)/8, $4
DATA four<>+48(SB)/8, $0
DATA four<>+56(SB)/8, $4
GLOBL four<>(SB), RODATA|NOPTR, $64

DATA swap<>+0(SB)/8, $0x0001020304050607
DATA swap<>+8(SB)/8, $0x08090a0b0c0d0e0f
GLOBL swap<>(SB), RODATA|NOPTR, $16
