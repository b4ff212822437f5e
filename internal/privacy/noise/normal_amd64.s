//go:build !purego

#include "textflag.h"

// The formula of boxMuller, operation for operation, so that the bits agree:
// see normal.go and elementary.go for what each line means.

// The constants, by their places in the table at the end of the file.
#define K_one 0(AX)
#define K_two 8(AX)
#define K_half 16(AX)
#define K_minusTwo 24(AX)
#define K_scale 32(AX)
#define K_shift 40(AX)
#define K_bias 48(AX)
#define K_mantissa 56(AX)
#define K_sqrtHalf 64(AX)
#define K_l1 72(AX)
#define K_l2 80(AX)
#define K_l3 88(AX)
#define K_l4 96(AX)
#define K_l5 104(AX)
#define K_l6 112(AX)
#define K_l7 120(AX)
#define K_ln2Hi 128(AX)
#define K_ln2Lo 136(AX)
#define K_eighth 144(AX)
#define K_quarter 152(AX)
#define K_sign 160(AX)
#define K_turn 168(AX)
#define K_s1 176(AX)
#define K_s2 184(AX)
#define K_s3 192(AX)
#define K_s4 200(AX)
#define K_s5 208(AX)
#define K_s6 216(AX)
#define K_c1 224(AX)
#define K_c2 232(AX)
#define K_c3 240(AX)
#define K_c4 248(AX)
#define K_c5 256(AX)
#define K_c6 264(AX)
#define K_high84 272(AX)
#define K_low52 280(AX)
#define K_high63 288(AX)
#define K_sub84 296(AX)
#define K_sub63 304(AX)
#define K_subBias 312(AX)

#define HORNER512(c, z, p) VFMADD213PD.BCST c, z, p

// func boxMullerAVX512(z, words *float64, groups int)
TEXT ·boxMullerAVX512(SB), NOSPLIT, $0-24
	MOVQ z+0(FP), DI
	MOVQ words+8(FP), SI
	MOVQ groups+16(FP), CX
	LEAQ normals<>(SB), AX

group512:
	// u
	VCVTUQQ2PD    (SI), Z0
	VADDPD.BCST   K_one, Z0, Z0
	VMULPD.BCST   K_scale, Z0, Z0
	// k, f
	VPADDQ.BCST   K_shift, Z0, Z0
	VPSRLQ        $52, Z0, Z1
	VPSUBQ.BCST   K_bias, Z1, Z1
	VCVTQQ2PD     Z1, Z1
	VPANDQ.BCST   K_mantissa, Z0, Z0
	VPADDQ.BCST   K_sqrtHalf, Z0, Z0
	VSUBPD.BCST   K_one, Z0, Z0
	// s, z, r
	VADDPD.BCST   K_two, Z0, Z2
	VDIVPD        Z2, Z0, Z2
	VMULPD        Z2, Z2, Z3
	VBROADCASTSD  K_l7, Z4
	HORNER512(K_l6, Z3, Z4)
	HORNER512(K_l5, Z3, Z4)
	HORNER512(K_l4, Z3, Z4)
	HORNER512(K_l3, Z3, Z4)
	HORNER512(K_l2, Z3, Z4)
	HORNER512(K_l1, Z3, Z4)
	// log u
	VMULPD.BCST   K_half, Z0, Z5
	VMULPD        Z0, Z5, Z5
	VFMADD213PD   Z5, Z3, Z4
	VMULPD.BCST   K_ln2Lo, Z1, Z6
	VFMADD213PD   Z6, Z2, Z4
	VSUBPD        Z4, Z5, Z5
	VSUBPD        Z5, Z0, Z0
	VFMADD231PD.BCST K_ln2Hi, Z1, Z0
	// radius
	VMULPD.BCST   K_minusTwo, Z0, Z0
	VSQRTPD       Z0, Z0
	// quarter (in the two high bits of Z8), y, z
	VMOVDQU64     64(SI), Z7
	VPADDQ.BCST   K_eighth, Z7, Z8
	VPSRLQ        $62, Z8, Z8
	VPSLLQ        $62, Z8, Z8
	VPSUBQ        Z8, Z7, Z7
	VCVTQQ2PD     Z7, Z7
	VMULPD.BCST   K_turn, Z7, Z7
	VMULPD        Z7, Z7, Z9
	// sine
	VBROADCASTSD  K_s6, Z10
	HORNER512(K_s5, Z9, Z10)
	HORNER512(K_s4, Z9, Z10)
	HORNER512(K_s3, Z9, Z10)
	HORNER512(K_s2, Z9, Z10)
	HORNER512(K_s1, Z9, Z10)
	VMULPD        Z9, Z7, Z11
	VFMADD213PD   Z7, Z11, Z10
	// cosine
	VBROADCASTSD  K_c6, Z12
	HORNER512(K_c5, Z9, Z12)
	HORNER512(K_c4, Z9, Z12)
	HORNER512(K_c3, Z9, Z12)
	HORNER512(K_c2, Z9, Z12)
	HORNER512(K_c1, Z9, Z12)
	VMULPD.BCST   K_half, Z9, Z13
	VBROADCASTSD  K_one, Z14
	VSUBPD        Z13, Z14, Z15
	VSUBPD        Z15, Z14, Z14
	VSUBPD        Z13, Z14, Z14
	VMULPD        Z9, Z9, Z9
	VFMADD213PD   Z14, Z9, Z12
	VADDPD        Z15, Z12, Z12
	// quarter turns: odd ones swap, then the signs
	VPTESTMQ.BCST K_quarter, Z8, K1
	VBLENDMPD     Z12, Z10, K1, Z13
	VBLENDMPD     Z10, Z12, K1, Z14
	VPANDQ.BCST   K_sign, Z8, Z15
	VPXORQ        Z15, Z13, Z13
	VPADDQ.BCST   K_quarter, Z8, Z8
	VPANDQ.BCST   K_sign, Z8, Z8
	VPXORQ        Z8, Z14, Z14
	VMULPD        Z0, Z14, Z14
	VMULPD        Z0, Z13, Z13
	VMOVUPD       Z14, (DI)
	VMOVUPD       Z13, 64(DI)
	ADDQ          $128, DI
	ADDQ          $128, SI
	DECQ          CX
	JNE           group512
	VZEROUPPER
	RET

#define HORNER2(c, z, p) \
	VBROADCASTSD c, Y15 \
	VFMADD213PD  Y15, z, p

// Y15 op: a constant as the second operand of VSUBPD and the like.
#define WITH(op, c, x, dst) \
	VBROADCASTSD c, Y15 \
	op           Y15, x, dst

// A 64-bit number becomes the sum of its halves, each exact, rounded once.
#define CONVERT(high, minus, x, t) \
	VPSRLQ       $32, x, t     \
	WITH(VPXOR, high, t, t)    \
	WITH(VSUBPD, minus, t, t)  \
	VBROADCASTSD K_low52, Y15  \
	VPBLENDD     $0xaa, Y15, x, x \
	VADDPD       x, t, x

// func boxMullerAVX2(z, words *float64, groups int)
//
// A group is done in two halves of four radii and four angles, at offset R9.
TEXT ·boxMullerAVX2(SB), NOSPLIT, $0-24
	MOVQ z+0(FP), DI
	MOVQ words+8(FP), SI
	MOVQ groups+16(FP), CX
	LEAQ normals<>(SB), AX
	XORQ R9, R9

half2:
	// u
	VMOVDQU       (SI)(R9*1), Y0
	CONVERT(K_high84, K_sub84, Y0, Y1)
	WITH(VADDPD, K_one, Y0, Y0)
	WITH(VMULPD, K_scale, Y0, Y0)
	// k, f
	WITH(VPADDQ, K_shift, Y0, Y0)
	VPSRLQ        $52, Y0, Y1
	WITH(VPXOR, K_low52, Y1, Y1)
	WITH(VSUBPD, K_subBias, Y1, Y1)
	WITH(VPAND, K_mantissa, Y0, Y0)
	WITH(VPADDQ, K_sqrtHalf, Y0, Y0)
	WITH(VSUBPD, K_one, Y0, Y0)
	// s, z, r
	WITH(VADDPD, K_two, Y0, Y2)
	VDIVPD        Y2, Y0, Y2
	VMULPD        Y2, Y2, Y3
	VBROADCASTSD  K_l7, Y4
	HORNER2(K_l6, Y3, Y4)
	HORNER2(K_l5, Y3, Y4)
	HORNER2(K_l4, Y3, Y4)
	HORNER2(K_l3, Y3, Y4)
	HORNER2(K_l2, Y3, Y4)
	HORNER2(K_l1, Y3, Y4)
	// log u
	WITH(VMULPD, K_half, Y0, Y5)
	VMULPD        Y0, Y5, Y5
	VFMADD213PD   Y5, Y3, Y4
	WITH(VMULPD, K_ln2Lo, Y1, Y6)
	VFMADD213PD   Y6, Y2, Y4
	VSUBPD        Y4, Y5, Y5
	VSUBPD        Y5, Y0, Y0
	WITH(VFMADD231PD, K_ln2Hi, Y1, Y0)
	// radius
	WITH(VMULPD, K_minusTwo, Y0, Y0)
	VSQRTPD       Y0, Y0
	// quarter (in the two high bits of Y8), y, z
	VMOVDQU       64(SI)(R9*1), Y7
	WITH(VPADDQ, K_eighth, Y7, Y8)
	VPSRLQ        $62, Y8, Y8
	VPSLLQ        $62, Y8, Y8
	VPSUBQ        Y8, Y7, Y7
	CONVERT(K_high63, K_sub63, Y7, Y9)
	WITH(VMULPD, K_turn, Y7, Y7)
	VMULPD        Y7, Y7, Y9
	// sine
	VBROADCASTSD  K_s6, Y10
	HORNER2(K_s5, Y9, Y10)
	HORNER2(K_s4, Y9, Y10)
	HORNER2(K_s3, Y9, Y10)
	HORNER2(K_s2, Y9, Y10)
	HORNER2(K_s1, Y9, Y10)
	VMULPD        Y9, Y7, Y11
	VFMADD213PD   Y7, Y11, Y10
	// cosine
	VBROADCASTSD  K_c6, Y12
	HORNER2(K_c5, Y9, Y12)
	HORNER2(K_c4, Y9, Y12)
	HORNER2(K_c3, Y9, Y12)
	HORNER2(K_c2, Y9, Y12)
	HORNER2(K_c1, Y9, Y12)
	WITH(VMULPD, K_half, Y9, Y13)
	VBROADCASTSD  K_one, Y14
	VSUBPD        Y13, Y14, Y11
	VSUBPD        Y11, Y14, Y14
	VSUBPD        Y13, Y14, Y14
	VMULPD        Y9, Y9, Y9
	VFMADD213PD   Y14, Y9, Y12
	VADDPD        Y11, Y12, Y12
	// quarter turns: odd ones swap, then the signs
	VPSLLQ        $1, Y8, Y9
	VBLENDVPD     Y9, Y12, Y10, Y13
	VBLENDVPD     Y9, Y10, Y12, Y14
	WITH(VPAND, K_sign, Y8, Y11)
	VPXOR         Y11, Y13, Y13
	WITH(VPADDQ, K_quarter, Y8, Y8)
	WITH(VPAND, K_sign, Y8, Y8)
	VPXOR         Y8, Y14, Y14
	VMULPD        Y0, Y14, Y14
	VMULPD        Y0, Y13, Y13
	VMOVUPD       Y14, (DI)(R9*1)
	VMOVUPD       Y13, 64(DI)(R9*1)
	XORQ          $32, R9
	JNE           half2
	ADDQ          $128, DI
	ADDQ          $128, SI
	DECQ          CX
	JNE           half2
	VZEROUPPER
	RET

DATA normals<>+0(SB)/8, $1.0
DATA normals<>+8(SB)/8, $2.0
DATA normals<>+16(SB)/8, $0.5
DATA normals<>+24(SB)/8, $(-2.0)
DATA normals<>+32(SB)/8, $0x3bf0000000000000
DATA normals<>+40(SB)/8, $0x00095f619980c433
DATA normals<>+48(SB)/8, $1023
DATA normals<>+56(SB)/8, $0x000fffffffffffff
DATA normals<>+64(SB)/8, $0x3fe6a09e667f3bcd
DATA normals<>+72(SB)/8, $6.666666666666735130e-01
DATA normals<>+80(SB)/8, $3.999999999940941908e-01
DATA normals<>+88(SB)/8, $2.857142874366239149e-01
DATA normals<>+96(SB)/8, $2.222219843214978396e-01
DATA normals<>+104(SB)/8, $1.818357216161805012e-01
DATA normals<>+112(SB)/8, $1.531383769920937332e-01
DATA normals<>+120(SB)/8, $1.479819860511658591e-01
DATA normals<>+128(SB)/8, $6.93147180369123816490e-01
DATA normals<>+136(SB)/8, $1.90821492927058770002e-10
DATA normals<>+144(SB)/8, $0x2000000000000000
DATA normals<>+152(SB)/8, $0x4000000000000000
DATA normals<>+160(SB)/8, $0x8000000000000000
DATA normals<>+168(SB)/8, $0x3c1921fb54442d18
DATA normals<>+176(SB)/8, $(-1.66666666666666324348e-01)
DATA normals<>+184(SB)/8, $8.33333333332248946124e-03
DATA normals<>+192(SB)/8, $(-1.98412698298579493134e-04)
DATA normals<>+200(SB)/8, $2.75573137070700676789e-06
DATA normals<>+208(SB)/8, $(-2.50507602534068634195e-08)
DATA normals<>+216(SB)/8, $1.58969099521155010221e-10
DATA normals<>+224(SB)/8, $4.16666666666666019037e-02
DATA normals<>+232(SB)/8, $(-1.38888888888741095749e-03)
DATA normals<>+240(SB)/8, $2.48015872894767294178e-05
DATA normals<>+248(SB)/8, $(-2.75573143513906633035e-07)
DATA normals<>+256(SB)/8, $2.08757232129817482790e-09
DATA normals<>+264(SB)/8, $(-1.13596475577881948265e-11)
DATA normals<>+272(SB)/8, $0x4530000000000000
DATA normals<>+280(SB)/8, $0x4330000000000000
DATA normals<>+288(SB)/8, $0x4530000080000000
DATA normals<>+296(SB)/8, $0x4530000000100000
DATA normals<>+304(SB)/8, $0x4530000080100000
DATA normals<>+312(SB)/8, $0x43300000000003ff
GLOBL normals<>(SB), RODATA|NOPTR, $320
