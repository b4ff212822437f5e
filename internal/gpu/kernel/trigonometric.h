// Sine, cosine, tangent, arc tangent and hyperbolic tangent in double
// precision. They follow the Cephes library, as Go's package math does:
//
// Cephes Math Library Release 2.8: June, 2000. Copyright 1984, 1987, 1989,
// 1992, 2000 by Stephen L. Moshier. "What you see here may be used freely but
// it comes with no support or guarantee."
#pragma once
#include "exponential.h"

#define PI 3.14159265358979323846

// The binary digits of 4/π: Σ fourOverPi[i]·2^(-64 i).
CONSTANT u64 fourOverPi[20] = {
    0x0000000000000001, 0x45f306dc9c882a53, 0xf84eafa3ea69bb81, 0xb6c52b3278872083, 0xfca2c757bd778ac3,
    0x6e48dc74849ba5c0, 0x0c925dd413a32439, 0xfc3bd63962534e7d, 0xd1046bea5d768909, 0xd338e04d68befc82,
    0x7323ac7306a673e9, 0x3908bf177bf25076, 0x3ff12fffbc0b301f, 0xde5e2316b414da3e, 0xda6cfd9e4f96136e,
    0x9e8c7ecd3cbfd45a, 0xea4f758fd7cbe2f6, 0x7a0e73ef14a525d4, 0xd7f6bf623f1aba10, 0xac06608df8f6d757,
};

DEVICE u64 highProduct(u64 x, u64 y) { return (u64)((unsigned __int128)x * y >> 64); }

// octant takes multiples of π/4 off a finite x >= 0: x = j π/4 + z up to full
// turns, j even, |z| <= π/4. Cody and Waite, and for large x Payne and Hanek in
// the form of K. C. Ng 1992.
FUNCTION int octant(double x, double* z) {
    if (x < 0x1p29) {
        u64 j = (u64)(x * (4 / PI));
        j += j & 1;
        double y = (double)j;
        *z = ((x - y * 7.85398125648498535156e-1) - y * 3.77489470793079817668e-8) - y * 2.69515142907905952645e-15;
        return (int)(j & 7);
    }
    u64 w = bits(x);
    int exponent = (int)(w >> 52 & 0x7ff) - 1075;
    w = (w & 0xfffffffffffff) | 1ull << 52;
    int digit = (exponent + 61) / 64, shift = (exponent + 61) % 64;
    u64 d[3];
    for (int i = 0; i < 3; i++) {
        u64 next = shift == 0 ? 0 : fourOverPi[digit + i + 1] >> (64 - shift);
        d[i] = fourOverPi[digit + i] << shift | next;
    }
    u64 lo = d[1] * w, middle = highProduct(d[2], w), hi = d[0] * w + highProduct(d[1], w);
    lo += middle;
    hi += lo < middle;
    int j = (int)(hi >> 61);
    hi = hi << 3 | lo >> 61; // the fraction, to which 64 bits are more than enough
    double f = (double)hi * 0x1p-64;
    if (hi >> 32 == 0) f = ((double)hi + (double)(lo << 3) * 0x1p-64) * 0x1p-64;
    if (j & 1) {
        // the nearest even multiple is above: 1 - f without cancellation
        f = -((double)(~hi) + 1) * 0x1p-64;
        if (~hi >> 32 == 0) f = -((double)(~hi) + (double)(~(lo << 3)) * 0x1p-64) * 0x1p-64;
        j = (j + 1) & 7;
    }
    *z = f * (PI / 4);
    return j;
}

DEVICE double sinePolynomial(double z) {
    double w = z * z;
    return z + z * w * ((((((1.58962301576546568060e-10 * w) - 2.50507477628578072866e-8) * w + 2.75573136213857245213e-6) * w -
           1.98412698295895385996e-4) * w + 8.33333333332211858878e-3) * w - 1.66666666666666307295e-1);
}

DEVICE double cosinePolynomial(double z) {
    double w = z * z;
    return 1 - 0.5 * w + w * w * ((((((-1.13585365213876817300e-11 * w) + 2.08757008419747316778e-9) * w - 2.75573141792967388112e-7) * w +
           2.48015872888517045348e-5) * w - 1.38888888888730564116e-3) * w + 4.16666666666665929218e-2);
}

FUNCTION double sine(double x) {
    if (x == 0 || isNaN(x)) return x;
    if (!isFinite(x)) return nan();
    double z;
    int j = octant(absolute(x), &z);
    double y = (j & 2) ? cosinePolynomial(z) : sinePolynomial(z);
    return ((j & 4) != 0) != (x < 0) ? -y : y;
}

FUNCTION double cosine(double x) {
    if (!isFinite(x)) return nan();
    double z;
    int j = octant(absolute(x), &z);
    double y = (j & 2) ? sinePolynomial(z) : cosinePolynomial(z);
    return j == 2 || j == 4 ? -y : y;
}

// arcTangentOf evaluates on [0, 0.66].
DEVICE double arcTangentOf(double x) {
    double z = x * x;
    z = z * ((((-8.750608600031904122785e-01 * z - 1.615753718733365076637e+01) * z - 7.500855792314704667340e+01) * z -
        1.228866684490136173410e+02) * z - 6.485021904942025371773e+01) /
        (((((z + 2.485846490142306297962e+01) * z + 1.650270098316988542046e+02) * z + 4.328810604912902668951e+02) * z +
        4.853903996359136964868e+02) * z + 1.945506571482613964425e+02);
    return x * z + x;
}

FUNCTION double arcTangent(double x) {
    if (x == 0 || isNaN(x)) return x;
    const double more = 6.123233995736765886130e-17; // π/2 as two numbers
    double size = absolute(x), y;
    if (size <= 0.66) y = arcTangentOf(size);
    else if (size > 2.41421356237309504880) y = PI / 2 - arcTangentOf(1 / size) + more;
    else y = PI / 4 + arcTangentOf((size - 1) / (size + 1)) + 0.5 * more;
    return withSign(y, x);
}

FUNCTION double hyperbolicTangent(double x) {
    double size = absolute(x);
    if (isNaN(x) || x == 0) return x;
    if (size > 44.014845965556527) return withSign(1, x);
    if (size >= 0.625) return withSign(1 - 2 / (exponential(2 * size) + 1), x);
    double s = x * x;
    return x + x * s * ((-9.64399179425052238628e-1 * s - 9.92877231001918586564e1) * s - 1.61468768441708447952e3) /
           (((s + 1.12811678491632931402e2) * s + 2.23548839060100448583e3) * s + 4.84406305325125486048e3);
}
