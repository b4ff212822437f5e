//go:build !purego

#include "textflag.h"

// roundGroup, operation for operation, for whole groups; see lattice.go. R9 is the
// group's bit, R10 gathers those of groups in doubt.

#define K_magic 0(AX)
#define K_half 8(AX)
#define K_slack 16(AX)
#define K_relative 24(AX)
#define K_absolute 32(AX)
#define K_lowest 40(AX)
#define K_range 48(AX)
#define K_sign 56(AX)

// y = nearest multiple of x + sigma z; K3 gathers the lanes in doubt.
// Z20 sigma, Z21 perSpacing, Z22 spacing, Z23 magic, Z24 half,
// Z25 slack, Z26 relative, Z27 absolute.
#define NEAREST512(offset, y) \
	VMULPD    offset(DX), Z20, Z0 \
	VADDPD    offset(DI), Z0, Z0  \
	VMULPD    Z21, Z0, Z0         \
	VADDPD    Z23, Z0, Z1         \
	VSUBPD    Z23, Z1, Z1         \
	VSUBPD    Z1, Z0, Z2          \
	VANDPD    Z27, Z2, Z2         \
	VANDPD    Z27, Z0, Z0         \
	VMULPD    Z26, Z0, Z0         \
	VADDPD    Z25, Z0, Z0         \
	VSUBPD    Z0, Z24, Z0         \
	VCMPPD    $5, Z0, Z2, K1      \ // not less than, or not a number
	KORW      K1, K3, K3          \
	VMULPD    Z22, Z1, y

// func roundAVX512(x, z, words *float64, groups int, sigma, perSpacing, spacing float64) (doubt uint32)
TEXT ·roundAVX512(SB), NOSPLIT, $0-60
	MOVQ x+0(FP), DI
	MOVQ z+8(FP), DX
	MOVQ words+16(FP), SI
	MOVQ groups+24(FP), CX
	LEAQ lattices<>(SB), AX
	VBROADCASTSD sigma+32(FP), Z20
	VBROADCASTSD perSpacing+40(FP), Z21
	VBROADCASTSD spacing+48(FP), Z22
	VBROADCASTSD K_magic, Z23
	VBROADCASTSD K_half, Z24
	VBROADCASTSD K_slack, Z25
	VBROADCASTSD K_relative, Z26
	VBROADCASTSD K_absolute, Z27
	VPBROADCASTQ K_lowest, Z28
	VPBROADCASTQ K_range, Z29
	MOVL $1, R9
	XORL R10, R10

group512:
	VMOVDQU64 (SI), Z3
	VPSUBQ    Z28, Z3, Z3
	VPCMPUQ   $6, Z29, Z3, K3 // above the range
	NEAREST512(0, Z4)
	NEAREST512(64, Z5)
	KORTESTW K3, K3
	JNE      doubt512
	VMOVUPD  Z4, (DI)
	VMOVUPD  Z5, 64(DI)

next512:
	ADDL R9, R9
	ADDQ $128, DI
	ADDQ $128, DX
	ADDQ $128, SI
	DECQ CX
	JNE  group512
	VZEROUPPER
	MOVL R10, doubt+56(FP)
	RET

doubt512:
	ORL R9, R10
	JMP next512

// As NEAREST512. Y15 gathers the lanes in doubt; Y8 sigma, Y9 perSpacing,
// Y10 spacing, Y11 magic, Y12 absolute.
#define NEAREST2(offset, y) \
	VMULPD       offset(DX), Y8, Y0 \
	VADDPD       offset(DI), Y0, Y0 \
	VMULPD       Y9, Y0, Y0         \
	VADDPD       Y11, Y0, Y1        \
	VSUBPD       Y11, Y1, Y1        \
	VSUBPD       Y1, Y0, Y2         \
	VANDPD       Y12, Y2, Y2        \
	VANDPD       Y12, Y0, Y0        \
	VBROADCASTSD K_relative, Y3     \
	VMULPD       Y3, Y0, Y0         \
	VBROADCASTSD K_slack, Y3        \
	VADDPD       Y3, Y0, Y0         \
	VBROADCASTSD K_half, Y3         \
	VSUBPD       Y0, Y3, Y0         \
	VCMPPD       $5, Y0, Y2, Y2     \
	VORPD        Y2, Y15, Y15       \
	VMULPD       Y10, Y1, y

// Compares words without their sign's meaning: both sides have the bit flipped.
#define RADIUS2(offset) \
	VMOVDQU  offset(SI), Y3 \
	VPSUBQ   Y13, Y3, Y3    \
	VPXOR    Y14, Y3, Y3    \
	VPCMPGTQ Y4, Y3, Y3     \
	VPOR     Y3, Y15, Y15

// func roundAVX2(x, z, words *float64, groups int, sigma, perSpacing, spacing float64) (doubt uint32)
TEXT ·roundAVX2(SB), NOSPLIT, $0-60
	MOVQ x+0(FP), DI
	MOVQ z+8(FP), DX
	MOVQ words+16(FP), SI
	MOVQ groups+24(FP), CX
	LEAQ lattices<>(SB), AX
	VBROADCASTSD sigma+32(FP), Y8
	VBROADCASTSD perSpacing+40(FP), Y9
	VBROADCASTSD spacing+48(FP), Y10
	VBROADCASTSD K_magic, Y11
	VBROADCASTSD K_absolute, Y12
	VPBROADCASTQ K_lowest, Y13
	VPBROADCASTQ K_sign, Y14
	MOVL $1, R9
	XORL R10, R10

group2:
	VPBROADCASTQ K_range, Y4
	VPXOR Y14, Y4, Y4
	VPXOR Y15, Y15, Y15
	RADIUS2(0)
	RADIUS2(32)
	NEAREST2(0, Y4)
	NEAREST2(32, Y5)
	NEAREST2(64, Y6)
	NEAREST2(96, Y7)
	VMOVMSKPD Y15, R11
	TESTL R11, R11
	JNE   doubt2
	VMOVUPD Y4, (DI)
	VMOVUPD Y5, 32(DI)
	VMOVUPD Y6, 64(DI)
	VMOVUPD Y7, 96(DI)

next2:
	ADDL R9, R9
	ADDQ $128, DI
	ADDQ $128, DX
	ADDQ $128, SI
	DECQ CX
	JNE  group2
	VZEROUPPER
	MOVL R10, doubt+56(FP)
	RET

doubt2:
	ORL R9, R10
	JMP next2

DATA lattices<>+0(SB)/8, $0x4338000000000000  // magic
DATA lattices<>+8(SB)/8, $0.5
DATA lattices<>+16(SB)/8, $0x3e30000000000000 // 2^-28
DATA lattices<>+24(SB)/8, $0x3cc0000000000000 // 2^-51
DATA lattices<>+32(SB)/8, $0x7fffffffffffffff
DATA lattices<>+40(SB)/8, $0x0000010000000000 // lowestWord
DATA lattices<>+48(SB)/8, $0xfffffe8000000000 // highestWord - lowestWord
DATA lattices<>+56(SB)/8, $0x8000000000000000
GLOBL lattices<>(SB), RODATA|NOPTR, $64
