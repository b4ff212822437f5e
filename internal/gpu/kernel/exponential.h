// Exponentials, logarithms and powers in double precision, within 1 ulp but for
// power. They follow FreeBSD's msun (e_exp.c, e_log.c, s_log1p.c, s_expm1.c),
// as Go's package math does:
//
// Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
// Developed at SunPro, a Sun Microsystems, Inc. business. Permission to use,
// copy, modify, and distribute this software is freely granted, provided that
// this notice is preserved.
#pragma once
#include "bits.h"

#define LN2_HI 6.93147180369123816490e-01
#define LN2_LO 1.90821492927058770002e-10

// exponential is e^x: x = k ln 2 + r, |r| <= ln2/2, and a rational function of r².
FUNCTION double exponential(double x) {
    if (isNaN(x)) return x;
    if (x > 7.09782712893383973096e+02) return infinity();
    if (x < -7.45133219101941108420e+02) return 0;
    if (absolute(x) < 0x1p-28) return 1 + x;
    int k = (int)(1.44269504088896338700e+00 * x + (x < 0 ? -0.5 : 0.5));
    double hi = x - k * LN2_HI, lo = k * LN2_LO, r = hi - lo, t = r * r;
    double c = r - t * (1.66666666666666657415e-01 + t * (-2.77777777770155933842e-03 +
               t * (6.61375632143793436117e-05 + t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))));
    return scaled(1 - ((lo - (r * c) / (2 - c)) - hi), k);
}

// logarithm is log x: x = 2^k (1+f), sqrt(1/2) <= 1+f < sqrt 2, and a series in
// f / (2+f).
FUNCTION double logarithm(double x) {
    if (isNaN(x) || x == infinity()) return x;
    if (x < 0) return nan();
    if (x == 0) return -infinity();
    int k = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        k = -54;
    }
    u64 shifted = bits(x) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    k += (int)(shifted >> 52) - 1023;
    double f = fromBits((shifted & 0xfffffffffffff) + 0x3fe6a09e667f3bcd) - 1;
    double s = f / (2 + f), s2 = s * s, s4 = s2 * s2;
    double r = s2 * (6.666666666666735130e-01 + s4 * (2.857142874366239149e-01 + s4 * (1.818357216161805012e-01 + s4 * 1.479819860511658591e-01))) +
               s4 * (3.999999999940941908e-01 + s4 * (2.222219843214978396e-01 + s4 * 1.531383769920937332e-01));
    double half = 0.5 * f * f;
    return k * LN2_HI - ((half - (s * (half + r) + k * LN2_LO)) - f);
}

// log1plus is log(1+x), accurate near 0: the rounding error c of u = 1+x is
// put back as c/u.
FUNCTION double log1plus(double x) {
    if (x < -1 || isNaN(x)) return nan();
    if (x == -1) return -infinity();
    if (x == infinity()) return x;
    if (absolute(x) < 0x1p-54) return x;
    int k = 0;
    double f = x, c = 0;
    if (!(x > -2.928932188134524755992e-01 && x < 4.142135623730950488017e-01)) {
        double u = x;
        if (x < 0x1p53) {
            u = 1 + x;
            c = (x >= 1 ? 1 - (u - x) : x - (u - 1)) / u;
        }
        u64 shifted = bits(u) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
        k = (int)(shifted >> 52) - 1023;
        f = fromBits((shifted & 0xfffffffffffff) + 0x3fe6a09e667f3bcd) - 1;
    }
    double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    double r = z * (6.666666666666735130e-01 + z * (3.999999999940941908e-01 + z * (2.857142874366239149e-01 +
               z * (2.222219843214978396e-01 + z * (1.818357216161805012e-01 + z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01))))));
    if (k == 0) return f - (half - s * (half + r));
    return k * LN2_HI - ((half - (s * (half + r) + (k * LN2_LO + c))) - f);
}

// expMinus1 is e^x - 1, accurate near 0.
FUNCTION double expMinus1(double x) {
    if (isNaN(x) || x == infinity()) return x;
    if (x < -3.88162421113569373274e+01) return -1;
    if (x >= 7.09782712893383973096e+02) return infinity();
    double size = absolute(x), c = 0;
    int k = 0;
    if (size < 0x1p-54) return x;
    if (size > 3.46573590279972654709e-01) {
        k = size < 1.03972077083991796413e+00 ? (x < 0 ? -1 : 1) : (int)(1.44269504088896338700e+00 * x + (x < 0 ? -0.5 : 0.5));
        double hi = x - k * LN2_HI, lo = k * LN2_LO;
        x = hi - lo;
        c = (hi - x) - lo;
    }
    double half = 0.5 * x, z = x * half;
    double r = 1 + z * (-3.33333333333331316428e-02 + z * (1.58730158725481460165e-03 +
               z * (-7.93650757867487942473e-05 + z * (4.00821782732936239552e-06 + z * -2.01099218183624371326e-07))));
    double t = 3 - r * half, e = z * ((r - t) / (6 - x * t));
    if (k == 0) return x - (x * e - z);
    e = (x * (e - c) - c) - z;
    if (k == -1) return 0.5 * (x - e) - 0.5;
    if (k == 1) return x < -0.25 ? -2 * (e - (x + 0.5)) : 1 + 2 * (x - e);
    if (k <= -2 || k > 56) return scaled(1 - (e - x), k) - 1;
    if (k < 20) return scaled((1 - fromBits((u64)(1023 - k) << 52)) - (e - x), k);
    return scaled((x - (e + fromBits((u64)(1023 - k) << 52))) + 1, k);
}

// power is x^y: repeated squaring for the whole part of y, e^(f log x) for the
// rest, the powers of two apart, as Go's math.Pow.
FUNCTION double power(double x, double y) {
    if (y == 0 || x == 1) return 1;
    if (y == 1) return x;
    if (isNaN(x) || isNaN(y)) return nan();
    double size = absolute(y), whole = floorOf(size), rest = size - whole;
    bool odd = rest == 0 && whole < 0x1p53 && ((u64)whole & 1);
    double sign = odd ? withSign(1, x) : 1;
    if (x == 0) return y < 0 ? sign * infinity() : sign * 0.0;
    if (size == infinity()) return x == -1 ? 1 : (absolute(x) < 1) == (y > 0) ? 0 : infinity();
    if (absolute(x) == infinity()) return y < 0 ? sign * 0.0 : sign * infinity();
    if (y == 0.5) return squareRoot(x);
    if (y == -0.5) return 1 / squareRoot(x);
    if (rest != 0 && x < 0) return nan();
    if (whole >= 0x1p62) return x == -1 ? 1 : (absolute(x) < 1) == (y > 0) ? 0 : infinity();
    double result = 1;
    int exponent = 0, e = 0; // the answer is result·2^exponent
    if (rest != 0) {
        if (rest > 0.5) {
            rest -= 1;
            whole += 1;
        }
        result = exponential(rest * logarithm(x));
    }
    if (absolute(x) < 0x1p-1022) {
        x *= 0x1p54;
        e = -54;
    }
    e += (int)(bits(x) >> 52 & 0x7ff) - 1022;
    x = fromBits((bits(x) & ~(0x7ffull << 52)) | 1022ull << 52); // 1/2 <= |x| < 1
    for (u64 i = (u64)whole; i != 0; i >>= 1) {
        if (e < -4096 || e > 4096) {
            exponent += e;
            break;
        }
        if (i & 1) {
            result *= x;
            exponent += e;
        }
        x *= x;
        e *= 2;
        if (x < 0.5) {
            x += x;
            e--;
        }
    }
    if (y < 0) return scaled(1 / result, -exponent);
    return scaled(result, exponent);
}
